"""The fictional project of a run and the prefix sections it leads to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from generate import prose
from generate.sections import Section


@dataclass(frozen=True)
class Model:
    """A model as the agent names it."""

    provider_id: str
    model_id: str


GLM_47 = Model("builtin:zai-coding-plan", "glm-4.7")
GLM_5 = Model("builtin:zai-coding-plan", "glm-5")


@dataclass(frozen=True)
class Skill:
    """A skill the agent found."""

    name: str
    description: str
    path: str


@dataclass(frozen=True)
class Project:
    """A workspace: what the context sections tell about it."""

    name: str
    agents_md: str | None = None
    user_agents_md: str | None = None
    memory_index: str | None = None
    skills: tuple[Skill, ...] = ()
    branch: str = "main"
    status: str = "(clean)"
    commits: tuple[str, ...] = ()
    git_user: str = "dev"
    git: bool = True

    @property
    def root(self) -> str:
        """The working directory."""
        return f"/home/dev/{self.name}"

    @property
    def memory_root(self) -> str:
        """Where the project's memory folder is."""
        return f"/home/dev/.zcode/projects/{self.name}/memory"


@dataclass(frozen=True)
class Profile:
    """How an agent is set up: which sections, tools and projection it uses."""

    project: Project
    model: Model = GLM_47
    tools: Sequence[str] = field(default_factory=tuple)
    variant: str = "main"
    mcs: bool = False
    desktop: bool = False
    output_style: tuple[str, str] | None = None
    custom_prompt: str | None = None
    name_models: bool = False
    agent_prompt: bool = True


def skills_listing(skills: Sequence[Skill]) -> str:
    """Return the listing the model sees; a long description is cut (section 13)."""
    lines = [prose.SKILLS_INTRO, ""]
    for skill in skills:
        text = skill.description
        lines.append(f"- {skill.name}: {text if len(text) <= 250 else text[:249] + '...'}")
    return "\n".join(lines)


def _user_context(project: Project, *, memory: bool) -> str | None:
    parts = []
    if project.user_agents_md:
        where = "Contents of /home/dev/.zcode/AGENTS.md (this person's notes for every project):"
        parts.append(f"{where}\n\n{project.user_agents_md}")
    if project.agents_md:
        where = f"Contents of {project.root}/AGENTS.md (checked into the repository):"
        parts.append(f"{where}\n\n{project.agents_md}")
    if memory and project.memory_index:
        where = f"Contents of {project.memory_root}/MEMORY.md (index of notes from earlier work):"
        parts.append(f"{where}\n\n{project.memory_index}")
    return "\n\n".join([prose.AGENTS_MD_INTRO, *parts]) if parts else None


def _environment(profile: Profile) -> str:
    project, model = profile.project, profile.model
    text = prose.ENVIRONMENT.format(root=project.root, git="yes" if project.git else "no")
    line = prose.MODEL_LINE.format(provider_id=model.provider_id, model_id=model.model_id)
    return f"{text}\n{line}"


def _working_sections(profile: Profile) -> list[Section]:
    """Return memory, environment, style, context management and git: 6 to 10 of section 7.1."""
    project = profile.project
    out = []
    if project.memory_index:
        out.append(Section("memory", prose.MEMORY.format(memory=project.memory_root)))
    out.append(Section("env_info", _environment(profile)))
    if profile.output_style:
        name, text = profile.output_style
        out.append(Section("output_style", prose.OUTPUT_STYLE.format(name=name, text=text)))
    out.append(Section("context_management", prose.CONTEXT_MANAGEMENT))
    if project.git:
        text = prose.SYSTEM_CONTEXT.format(
            branch=project.branch,
            user=project.git_user,
            status=project.status,
            commits="\n".join(project.commits),
        )
        out.append(Section("system_context", text))
    return out


def _subagent_sections(profile: Profile) -> list[Section]:
    environment = prose.SUBAGENT_ENVIRONMENT.format(
        root=profile.project.root,
        git="yes" if profile.project.git else "no",
        provider_id=profile.model.provider_id,
        model_id=profile.model.model_id,
    )
    own = [Section("subagent_agent_prompt", "\n" + prose.SUBAGENT_PROMPT)]
    return [
        Section("cli_prefix", prose.CLI_PREFIX),
        *(own if profile.agent_prompt else []),
        Section("subagent_notes", "\n\n" + prose.SUBAGENT_NOTES),
        Section("subagent_environment", "\n\n" + environment),
    ]


def _system_sections(profile: Profile) -> list[Section]:
    if profile.variant == "subagent":
        return _subagent_sections(profile)
    if profile.variant == "workflow":
        identity = Section("workflow_actor_identity", prose.WORKFLOW_IDENTITY)
        return [identity, *_working_sections(profile)]
    head = Section("cli_prefix", prose.CLI_PREFIX)
    if profile.custom_prompt is not None:
        return [head, Section("custom_system_prompt", "\n" + profile.custom_prompt)]
    out = [head, Section("identity", prose.IDENTITY)]
    if profile.desktop:
        out.append(Section("desktop_context", prose.DESKTOP_CONTEXT))
    out.append(Section("dynamic_behavior", prose.DYNAMIC_BEHAVIOR))
    if profile.project.skills and "Skill" in profile.tools:
        out.append(Section("session_guidance", prose.SESSION_GUIDANCE))
    return out + _working_sections(profile)


def build_sections(profile: Profile, today: date) -> list[Section]:
    """Return the sections of a profile in injection order (section 7)."""
    project, subagent = profile.project, profile.variant == "subagent"
    meta = []
    user_context = _user_context(project, memory=not subagent)
    if user_context:
        meta.append(Section("request_user_context", user_context))
    meta.append(Section("current_date", prose.CURRENT_DATE.format(date=today.isoformat())))
    if project.skills and "Skill" in profile.tools:
        skills = Section("skills", skills_listing(project.skills))
        meta.insert(len(meta) if subagent else 0, skills)
    return _system_sections(profile) + meta
