"""Sessions whose file changes its manner of writing on the way."""

from generate.agent import Agent
from generate.modelio import MAX_FILE_BYTES
from generate.project import GLM_5, GLM_47, Profile, Project, Skill
from generate.sample import Sample, finish
from generate.script import Turn, bash, edit, grep, read, say
from generate.tools import CORE_NAMES, SMALL_NAMES
from generate.world import World

COBBLE = Project(
    name="cobble",
    agents_md="A terrain renderer in C++. Every shader has a picture test under `shots/`.",
    skills=(Skill("shots", "Render the picture tests and compare them.", "p/SKILL.md"),),
    branch="moss",
    commits=("c0a1e44 Wet stones", "2e81b30 Grid of stones"),
    git_user="Ines Rohr",
)


def _cobble_turns() -> list[Turn]:
    root = COBBLE.root
    picture = {
        "type": "image",
        "mediaType": "image/png",
        "dataUrl": "[dataUrl omitted from model-io: image/png, 48210 chars]",
    }
    shader = "vec3 moss(float wet) {\n    return mix(GREY, GREEN, wet * wet);\n}"
    return [
        Turn(
            [{"type": "text", "text": "The moss is too bright, see the picture."}, picture],
            (
                say("Reading the moss shader.", read(root, "shaders/moss.glsl", shader)),
                say("`wet * wet` grows late; the bright part is GREEN itself. Darker green?"),
            ),
            title="Moss too bright",
            session_hook="Graphics driver 12.4 found; shots are rendered in software.",
        ),
        Turn(
            "Yes, a third darker.",
            (
                say("", edit(root, "shaders/palette.glsl", "GREEN = 0.60", "GREEN = 0.40")),
                say("", bash("make shots", "2 of 14 pictures differ", failed=True)),
                say("Moss is a third darker; the two pictures with moss differ, as they should."),
            ),
        ),
        Turn(
            "Accept those two pictures.",
            (
                say("", bash("make accept-shots", "moss_dry.png moss_wet.png accepted")),
                say("Both pictures are accepted; 14 of 14 match now."),
            ),
        ),
    ]


def full_retention_switch() -> Sample:
    """One file with windowed lines, then full-retention ones, then windowed ones again."""
    world = World("full-retention-switch")
    agent = Agent(world, Profile(COBBLE, GLM_5, CORE_NAMES, mcs=True))
    for index, turn in enumerate(_cobble_turns()):
        if index:
            world.io.full_retention = index == 1
            agent.resume()
        agent.run(turn)
        world.clock.advance(110_000)
    return finish(
        "full-retention-switch",
        "Full retention switched on and off",
        "Windowed and full-retention lines in one file; the restarts between them resume the "
        "session, which drops the start hook's text from an old message and costs cache reads.",
        world,
    )


SPINDLE = Project(
    name="spindle",
    agents_md="A thread-safe ring buffer in Zig. No allocation after start.",
    branch="main",
    commits=("0d4c9e1 Wrap around",),
    git_user="Pia Venn",
)


def size_reset() -> Sample:
    """A file that outgrew its limit and was overwritten by the newest record."""
    world = World("size-reset")
    agent = Agent(world, Profile(SPINDLE, GLM_47, SMALL_NAMES))
    root = SPINDLE.root
    push = "pub fn push(self: *Ring, v: u8) bool {\n    return self.put(v);\n}"
    agent.run(
        Turn(
            "push() overwrites unread bytes. Find out why.",
            (
                say("", read(root, "src/ring.zig", push)),
                say("", grep("fn put", "src/ring.zig:31")),
                say("`put` never compares head and tail (`src/ring.zig:31`)."),
            ),
            title="push overwrites unread bytes",
        )
    )
    world.clock.advance(80_000)
    world.io.pretend_size(agent.session_id, MAX_FILE_BYTES[False] + 10_368)
    world.truth.keep_only(())
    agent.run(
        Turn(
            "Let push() return false when the buffer is full.",
            (
                say("", edit(root, "src/ring.zig", "self.put(v)", "!self.full() and self.put(v)")),
                say("", bash("zig build test", "All 9 tests passed.")),
                say("push() returns false on a full buffer; all nine tests pass."),
            ),
        )
    )
    return finish(
        "size-reset",
        "A file that was reset for its size",
        "The first record carries modelIOReset: the file had outgrown its limit, so the earlier "
        "requests of the session are known only from the structured log.",
        world,
    )
