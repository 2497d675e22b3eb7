"""A session that hands questions to two helper agents."""

from generate.agent import Agent
from generate.project import GLM_47, Profile, Project, Skill
from generate.sample import Sample, finish
from generate.script import Call, ChildTask, Turn, bash, grep, read, say
from generate.tools import ALL_NAMES, SCOUT_NAMES
from generate.world import World

ATLAS = Project(
    name="atlas-fmt",
    agents_md="A formatter for map styles, in Rust. `cargo test` is quick; run it often.",
    memory_index="- [Colour names](colours.md): lower case, British spelling",
    skills=(Skill("style-guide", "The rules for map styles with examples.", "g/SKILL.md"),),
    branch="layers",
    commits=("31d7c02 Sort layers", "8ab6610 Parse comments"),
    git_user="Theo Lind",
)


def _scout() -> Call:
    root = ATLAS.root
    source = "pub fn sort(layers: &mut Vec<Layer>) {\n    layers.sort_by_key(|l| l.z);\n}"
    steps = (
        say("", grep("fn sort", "src/layers.rs:1\nsrc/legend.rs:40")),
        say("", read(root, "src/layers.rs", source)),
        say("Layers are sorted in src/layers.rs:2 by `z` alone; the sort is stable."),
    )
    brief = "Where are map layers sorted, and by what? Name file, line and key."
    return Call(
        "Agent",
        {"description": "Find layer sorting", "prompt": brief, "agent_type": "Explore"},
        "",
        child=ChildTask("Explore", SCOUT_NAMES, steps),
    )


def _tester() -> Call:
    steps = (
        say("Listing the tests.", bash("grep -c '#[test]' -r tests", "tests/layers.rs:7")),
        say("", bash("cargo test layers", "7 passed", duration_ms=2900)),
        say("", grep("equal_z|same_z", "no match")),
        say("Seven tests cover layers and all pass; none has two layers with the same z."),
    )
    brief = "Run the layer tests. Is there one with two layers of equal z?"
    return Call(
        "Agent",
        {"description": "Check layer tests", "prompt": brief, "agent_type": "general-purpose"},
        "",
        child=ChildTask("general-purpose", (*SCOUT_NAMES, "Skill"), steps),
    )


def subagent() -> Sample:
    """A main session and two child sessions that run at the same time."""
    world = World("subagent")
    agent = Agent(world, Profile(ATLAS, GLM_47, ALL_NAMES))
    agent.run(
        Turn(
            "Two layers with equal z sometimes swap. Find out why and whether a test would see it.",
            (
                say(
                    "I'll send two helpers: one to the code, one to the tests.", _scout(), _tester()
                ),
                say(
                    "The sort is stable, so the swap must come from reading the layers.",
                    grep("HashMap", "src/parse.rs:18:    let mut layers = HashMap::new();"),
                ),
                say(
                    "Layers pass through a hash map in `src/parse.rs:18`, which loses their order "
                    "before the stable sort. No test has two layers of equal z."
                ),
            ),
            title="Layers with equal z swap",
        )
    )
    world.clock.advance(55_000)
    agent.run(
        Turn(
            "Write such a test first.",
            (
                say("", bash("cargo test equal_z", "1 failed: order differs", failed=True)),
                say("The new test `equal_z` fails as it should, about every second run."),
            ),
        )
    )
    return finish(
        "subagent",
        "A session with two helper agents",
        "A main session and two child sessions with files of their own; the children carry the "
        "parent's turn id, have one system message a section, and overlap in time.",
        world,
    )
