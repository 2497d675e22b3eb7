"""Undisturbed sessions: production, development, and a log without redaction."""

from generate.agent import Agent
from generate.project import GLM_47, Profile, Project, Skill
from generate.sample import Sample, finish
from generate.script import Call, Turn, bash, edit, grep, read, say, todos
from generate.tools import ALL_NAMES, CORE_NAMES
from generate.world import World

TIDEWATCH = Project(
    name="tidewatch",
    agents_md=(
        "- Python 3.12, standard library only.\n"
        "- Heights are metres above chart datum; never print feet.\n"
        "- `python -m unittest` must pass before you call something done."
    ),
    memory_index="- [Harbour codes](harbours.md): why Port Elin has two of them",
    skills=(
        Skill("release-notes", "Collect merged changes into notes for the next tag.", "a/SKILL.md"),
        Skill("bench", "Time the parser on the three stored tables.", "b/SKILL.md"),
    ),
    branch="low-water",
    status=" M tidewatch/table.py",
    commits=("4c1d0aa Read the 2026 tables", "9be3f17 Sort harbours by code"),
    git_user="Imre Dahl",
)

TABLE_PY = '''\
"""Tide tables: one row a turn of the tide."""

def parse_row(line):
    time, height = line.split(";")
    return time.strip(), float(height)

def low_waters(rows):
    return [row for row in rows if row[1] < 0]
'''


def _tidewatch_turns() -> list[Turn]:
    root = TIDEWATCH.root
    failing = (
        "FAIL: test_low_water (tests.test_table.LowWater)\n"
        "AssertionError: [] != [('04:12', 0.31)]\n\nRan 6 tests in 0.011s\nFAILED (failures=1)"
    )
    return [
        Turn(
            "low_waters() returns nothing for Port Elin although the table has four low waters a "
            "day. Can you find out why?",
            (
                say("I'll read the parser first.", read(root, "tidewatch/table.py", TABLE_PY)),
                say(
                    "",
                    grep("low_waters", "tidewatch/table.py:7\ntests/test_table.py:14"),
                    bash("python -m unittest", failing),
                    reasoning="Heights are above chart datum, so a low water is seldom negative.",
                ),
                say(
                    "A low water is taken to be any height below zero, but heights are above chart "
                    "datum and stay positive at Port Elin. A low water is a local minimum: a row "
                    "lower than both neighbours (`tidewatch/table.py:8`). Shall I change it?"
                ),
            ),
            title="Low waters missing for Port Elin",
        ),
        Turn(
            "Yes, please. Keep the first and last row of a table out of it.",
            (
                say(
                    "Changing the rule to a local minimum.",
                    edit(
                        root,
                        "tidewatch/table.py",
                        "    return [row for row in rows if row[1] < 0]",
                        "    inner = zip(rows, rows[1:], rows[2:])\n"
                        "    return [row for before, row, after in inner\n"
                        "            if row[1] < before[1] and row[1] < after[1]]",
                    ),
                ),
                say("", bash("python -m unittest", "Ran 6 tests in 0.012s\nOK")),
                say("Done: low waters are local minima now, and all six tests pass."),
            ),
        ),
        Turn(
            "Is there a ticket for this?",
            (
                say(
                    "",
                    _ticket_list(),
                    reasoning="The tickets server can list what is open.",
                ),
                say('Yes: #88, "No low water at Port Elin", open since last week.'),
            ),
        ),
    ]


def _ticket_list() -> Call:
    return Call(
        "mcp__tickets__list_tickets",
        {"label": "tables"},
        "#88 No low water at Port Elin (open, 6 days)\n#71 Table of 2025 has a gap (open, 40 days)",
    )


def production_info() -> Sample:
    """A normal user's machine: info-level log without context lines, model I/O in rollout."""
    world = World("production-info")
    profile = Profile(TIDEWATCH, GLM_47, ALL_NAMES)
    agent = Agent(world, profile)
    for turn in _tidewatch_turns():
        agent.run(turn)
        world.clock.advance(48_000)
    return finish(
        "production-info",
        "A normal production session",
        "Three turns with tool loops and a title request; the info-level log has no context lines, "
        "so sections and reminders must be read from the model I/O file.",
        world,
    )


PEBBLE = Project(
    name="pebble-notes",
    agents_md=(
        "TypeScript, no framework. Notes are plain files under `notes/`.\n"
        "Run `npm test` after every change. Do not touch `vendor/`."
    ),
    user_agents_md="Answer in English. I read on a narrow screen.",
    memory_index="- [Slugs](slugs.md): umlauts are spelled out, agreed in November",
    skills=(Skill("new-note", "Create a note with today's date and open it.", "n/SKILL.md"),),
    branch="search",
    status="?? notes/draft.md",
    commits=("70aa1c2 Index notes by slug", "1d90be4 First search box", "e0b7f55 Start"),
    git_user="Rana Holt",
)

SLUG_TS = """\
export function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");
}
"""


def _pebble_turns() -> list[Turn]:
    root = PEBBLE.root
    return [
        Turn(
            "A note titled 'Über Kiesel' gets the slug '-ber-kiesel'. Fix it and add a test.",
            (
                say(
                    "Looking at the slug function and its tests.",
                    read(root, "src/slug.ts", SLUG_TS),
                    grep("slug\\(", "src/slug.ts:1\nsrc/index.ts:22\ntest/slug.test.ts:4"),
                ),
                say(
                    "",
                    todos(("Spell umlauts out", "in_progress"), ("Add a test", "pending")),
                    edit(
                        root,
                        "src/slug.ts",
                        "    .toLowerCase()\n",
                        "    .toLowerCase()\n    .replace(/[äöü]/g, (c) => UMLAUTS[c])\n",
                    ),
                ),
                say(
                    "",
                    bash("npm test", "14 passing, 1 failing: UMLAUTS is not defined", failed=True),
                ),
                say(
                    "The table is missing; adding it.",
                    edit(
                        root,
                        "src/slug.ts",
                        "export function slug",
                        'const UMLAUTS: Record<string, string> = {ä: "ae", ö: "oe", ü: "ue"};\n\n'
                        "export function slug",
                    ),
                    bash("npm test", "15 passing"),
                ),
                say("'Über Kiesel' becomes 'ueber-kiesel' now; a test covers it, 15 tests pass."),
            ),
            title="Slugs for titles with umlauts",
            title_late=True,
        ),
        Turn(
            "Thanks. Does search find the note by its old slug?",
            (
                say("", grep("oldSlug|aliases", "src/index.ts:31:  aliases: string[];")),
                say("No. `aliases` exists in the index but nothing fills it (`src/index.ts:31`)."),
            ),
        ),
    ]


def development_debug() -> Sample:
    """A development run: every context line, with the numbers redacted."""
    world = World("development-debug", development=True)
    agent = Agent(world, Profile(PEBBLE, GLM_47, ALL_NAMES, desktop=True))
    for turn in _pebble_turns():
        agent.run(turn)
        world.clock.advance(61_000)
    return finish(
        "development-debug",
        "A development session with a debug log",
        "context.built and context_usage_snapshot lines whose token numbers the default redactor "
        "replaced by a string; model I/O in debug/ with SDK and wire messages.",
        world,
    )


KILN = Project(
    name="kiln",
    agents_md="A site generator in Go. Golden files live in `testdata/`; never edit by hand.",
    branch="main",
    commits=("aa31f09 Cache parsed templates",),
    git_user="Sol Arden",
)


def _kiln_turns() -> list[Turn]:
    root = KILN.root
    source = "func Render(p Page) string {\n\tt := load(p.Layout)\n\treturn t.Execute(p)\n}\n"
    return [
        Turn(
            "Rendering 2,000 pages takes 40 s. Where does the time go?",
            (
                say(
                    "", bash("go test -bench Render ./...", "BenchmarkRender-2  60  19411203 ns/op")
                ),
                say("Reading the renderer.", read(root, "render.go", source)),
                say(
                    "`load` parses the layout for every page (`render.go:2`). Parsing once per "
                    "layout should bring the run down to a few seconds."
                ),
            ),
            title="Slow rendering of many pages",
        ),
        Turn(
            "Do that.",
            (
                say(
                    "", edit(root, "render.go", "t := load(p.Layout)", "t := layouts.get(p.Layout)")
                ),
                say("", bash("go test ./...", "ok  kiln  0.412s")),
                say("Layouts are parsed once now and the tests pass."),
            ),
        ),
    ]


def unredacted() -> Sample:
    """A debug log written with an embedder's own redactor: plain numbers in token keys."""
    world = World("unredacted", development=True, redacted=False)
    style = ("Terse", "Leave out pleasantries. One paragraph is the most you may write.")
    agent = Agent(world, Profile(KILN, GLM_47, CORE_NAMES, output_style=style))
    for turn in _kiln_turns():
        agent.run(turn)
        world.clock.advance(35_000)
    return finish(
        "unredacted",
        "A debug log with plain token numbers",
        "The same kind of log as development-debug, but token keys hold numbers, so estimates can "
        "be compared with what the sections and messages say.",
        world,
    )
