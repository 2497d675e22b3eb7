"""Failures, retries and a stop by the person."""

from generate.agent import Agent
from generate.project import GLM_47, Profile, Project
from generate.sample import Sample, finish
from generate.script import Failure, Step, Turn, bash, edit, read, say
from generate.tools import CORE_NAMES
from generate.world import World

LANTERN = Project(
    name="lantern",
    agents_md="Firmware of a weather lamp in C. No dynamic memory. `make test` runs on the host.",
    branch="colour-curve",
    commits=("5e5a210 Fade instead of jump", "0cc9d14 Read pressure"),
    git_user="Jun Abel",
)

BUSY = "Too many requests, try again shortly"


def _turns() -> list[Turn]:
    root = LANTERN.root
    source = "rgb colour(int hpa) {\n    return lerp(BLUE, AMBER, hpa - 980);\n}"
    limited = Failure("rate_limited", BUSY, 429)
    broken = Failure("server_error", "Internal error", 500, duration_ms=2300, wire_body_known=True)
    call = {"id": "call_partial", "name": "Bash", "input": {"command": "make"}}
    stopped = Failure(
        "cancelled",
        "Model request was cancelled.",
        name="AbortError",
        duration_ms=1800,
        delay_ms=None,
        cancelled=True,
        partial_calls=(call,),
        reaches_provider=True,
    )
    too_long = Failure("context_exceeded", "Prompt is too long", 400, delay_ms=None)
    old_build = Failure("network_error", "socket hang up", keep_request_id=True)
    return [
        Turn(
            "The lamp turns amber far too early. Check the colour curve.",
            (
                say("Reading the curve.", read(root, "src/colour.c", source)),
                Step(
                    "The curve starts at 980 hPa and is not clamped; 1013 should be the middle.",
                    failures=(limited, Failure("provider_overloaded", "Overloaded", 529)),
                ),
            ),
            title="Lamp turns amber too early",
        ),
        Turn(
            "Clamp it to 980 to 1046.",
            (
                Step(
                    "",
                    (edit(root, "src/colour.c", "hpa - 980", "clamp(hpa, 980, 1046) - 980"),),
                    failures=(broken,),
                ),
                say("Clamped.", bash("make test", "22 checks, 0 failed")),
                say("The curve is clamped and all 22 checks pass."),
            ),
        ),
        Turn("Flash the lamp on my desk as well.", (Step(failures=(stopped,)),)),
        Turn(
            "Stop, the lamp is unplugged. Only build the image.",
            (
                say("", bash("make image", "lantern.img 61440 bytes")),
                say("The image is built: `lantern.img`, 60 KiB."),
            ),
        ),
        Turn("Attach the full build log to the ticket.", (Step(failures=(too_long,)),)),
        Turn(
            "Never mind. Is the tree clean?",
            (
                Step("", (bash("git status -s", " M src/colour.c"),), failures=(old_build,)),
                say("One change is uncommitted: `src/colour.c`."),
            ),
        ),
    ]


def retries_failures() -> Sample:
    """Attempts that failed, were retried, gave up or were stopped."""
    world = World("retries-failures")
    agent = Agent(world, Profile(LANTERN, GLM_47, CORE_NAMES))
    for turn in _turns():
        agent.run(turn)
        world.clock.advance(30_000)
    return finish(
        "retries-failures",
        "Retries, failures and a stop",
        "Attempts 1 to 3 with new request ids and empty deltas, failure lines with hollow "
        "responses and body.messages, a cancelled request, one that gave up, and an older "
        "build's pair that shares one request id.",
        world,
    )
