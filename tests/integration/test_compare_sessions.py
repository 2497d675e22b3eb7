"""Two sessions compared: by the service, in the terminal and on the page."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.session_comparisons import a_member
from tracer import service
from tracer.cli import main
from tracer.compare.sessions import compare_sessions
from tracer.model.session_comparison import Group, Member, SessionComparison, SessionSide, State
from tracer.model.views import SessionSummary
from tracer.service import Service
from web.app import create_app

SAMPLES = Path(__file__).parents[2] / "sample-logs" / "zcode"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same conversation with and without mid-conversation messages, and a third."""
    db = tmp_path_factory.mktemp("sessions") / "x.db"
    paths = [str(SAMPLES / name) for name in ("mcs-on", "mcs-off", "chinese")]
    service.ingest(db, paths, count_tokens=False)
    return db


def compared(db: Path, a: int, b: int) -> SessionComparison:
    ids = [session.session_id for session in Service(db).sessions().sessions]
    return Service(db).compare_sessions(ids[a], ids[b])


def states(found: SessionComparison, group: Group) -> dict[str, State]:
    return {row.name: row.state for row in found.rows if row.group is group}


def test_a_session_is_the_same_as_itself(database: Path) -> None:
    found = compared(database, 0, 0)
    assert found.rows
    assert {row.state for row in found.rows} == {State.SAME}


def test_what_only_one_of_them_has_is_named(database: Path) -> None:
    found = compared(database, 0, 1)
    mcs = states(found, Group.MCS)
    assert mcs and set(mcs.values()) <= {State.ONLY_A, State.ONLY_B}
    assert len(set(mcs.values())) == 1
    assert set(states(found, Group.TOOL).values()) == {State.SAME}


def test_other_conversations_have_other_texts(database: Path) -> None:
    found = compared(database, 0, 2)
    sections = states(found, Group.SECTION)
    assert {State.SAME, State.CHANGED} <= set(sections.values())
    changed = next(row for row in found.rows if row.state is State.CHANGED)
    assert changed.a is not None and changed.b is not None
    first = changed.a.versions[0]
    request = next(r for r in Service(database).requests(found.a.session.session_id)
                   if r.key == first.first_key)  # fmt: skip
    assert first.content_hash in {section.content_hash for section in request.sections}


def test_the_terminal_says_it_and_folds_what_is_the_same(database: Path) -> None:
    ids = [session.session_id for session in Service(database).sessions().sessions]

    def run(*more: str) -> str:
        result = CliRunner().invoke(main, ["compare", ids[0], ids[2], "--db", str(database), *more])
        assert result.exit_code == 0, result.output
        return result.stdout

    text = run()
    assert "other text" in text and "the same in both: see --all" in text
    assert "the same in both: see --all" not in run("--all")
    assert {row["state"] for row in json.loads(run("--json"))["rows"]} >= {"same", "changed"}


def test_the_page_leads_to_each_difference(database: Path) -> None:
    app = TestClient(create_app(Service(database)), base_url="http://127.0.0.1")
    ids = [session.session_id for session in Service(database).sessions().sessions]
    empty = app.get("/compare/sessions")
    assert empty.status_code == 200 and "Choose two sessions" in empty.text
    page = app.get(f"/compare/sessions?a={ids[0]}&b={ids[2]}")
    assert page.status_code == 200
    links = re.findall(r'href="(/compare/[^"#]+)#', page.text)
    assert links
    assert app.get(links[0].replace("&amp;", "&")).status_code == 200
    assert app.get("/compare/sessions?a=nobody&b=nothing").status_code == 404


MEMBERS = st.dictionaries(
    st.tuples(st.sampled_from(Group), st.sampled_from("abc")),
    st.lists(st.sampled_from("123"), max_size=3, unique=True).map(lambda found: a_member(*found)),
)


@given(MEMBERS, MEMBERS)
def test_each_thing_has_one_row_and_both_ways_say_the_same(
    a: dict[tuple[Group, str], Member], b: dict[tuple[Group, str], Member]
) -> None:
    one, other = SessionSide(_EMPTY, 0, a), SessionSide(_EMPTY, 0, b)
    there, back = compare_sessions(one, other), compare_sessions(other, one)
    names = [(row.group, row.name) for row in there.rows]
    assert sorted(names) == sorted(a.keys() | b.keys())
    mirrored = {State.ONLY_A: State.ONLY_B, State.ONLY_B: State.ONLY_A}
    turned = {(row.group, row.name): mirrored.get(row.state, row.state) for row in back.rows}
    assert turned == {(row.group, row.name): row.state for row in there.rows}


_EMPTY = SessionSummary.__new__(SessionSummary)
