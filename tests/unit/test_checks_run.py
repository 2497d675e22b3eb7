"""What is made of the findings of rules: told once, in order, and what cannot be decided summed."""

from collections.abc import Iterator
from dataclasses import replace

from tracer.anatomy.messages import Sort
from tracer.checks import CheckedMessage, CheckedRequest, CheckedSession, Rule
from tracer.checks.base import Found, Reporter, rule_name
from tracer.checks.run import run_rules
from tracer.model.findings import Level
from tracer.model.prompt import Block, Kind, Tier
from tracer.model.segments import MessageNote

REPORT = Reporter("tracer.checks.demo.no_shouting", Level.WARNING)


def a_message(text: str, gap: int = 0, role: str = "user") -> CheckedMessage:
    kind = Kind.GAP if gap else Kind.TEXT
    block = Block(Tier.MESSAGES, role, kind, text, span_messages=max(gap, 1))
    sort = Sort.GAP if gap else Sort.USER
    return CheckedMessage(role, sort, (block,), MessageNote(), text.encode(), gap)


def a_request(seq: int, messages: list[CheckedMessage], **changed: object) -> CheckedRequest:
    made = CheckedRequest(
        key=f"k{seq}", seq=seq, request_id="", attempt=1, turn_id="t",
        query_source="main_turn", side_call=False, lane="main", provider_id="p", model_id="m",
        started_at_ms=seq, status="completed", whole=True, verified_from=0,
        message_count=len(messages), tools=(), messages=messages, markers=(), previous=None,
        common=0, tools_known=True,
    )  # fmt: skip
    return replace(made, **changed)  # type: ignore[arg-type]


def shouting(session: CheckedSession) -> Iterator[Found]:
    """Looks at every message of every request, again and again."""
    for request in session.requests:
        if not request.whole:
            yield REPORT.needs("the whole list", request)
        for index, message in enumerate(request.messages):
            if message.blocks[0].text.isupper():
                yield REPORT.found(request, "It shouts.", index, characters=1_234, said="no")


def a_rule(*, applies: bool = True) -> Rule:
    name = REPORT.rule
    return Rule(
        name, "demo", Level.WARNING, "No", "No.", "design.md 9", shouting, lambda _: applies
    )


def test_a_name_follows_from_the_module() -> None:
    assert rule_name("tracer.checks.layout_14.tools_sorted") == "layout-14/tools-sorted"
    assert REPORT.rule == "demo/no-shouting"


def test_a_broken_message_is_told_where_it_is_seen_first() -> None:
    loud, calm = a_message("HEY"), a_message("hello")
    session = CheckedSession(
        "s", "x", (a_request(1, [calm]), a_request(2, [calm, loud]), a_request(3, [calm, loud]))
    )
    (found,) = run_rules(session, [a_rule()]).findings
    assert (found.key, found.message_index, found.level) == ("k2", 1, Level.WARNING)
    assert found.evidence == (("characters", "1,234"), ("said", "no"))


def test_another_message_at_the_same_place_is_another_finding() -> None:
    one, two = a_message("HEY"), a_message("HO")
    session = CheckedSession(
        "s", "x", (a_request(1, [one]), a_request(2, [two]), a_request(3, [one]))
    )
    assert [f.key for f in run_rules(session, [a_rule()]).findings] == ["k1", "k2"]


def test_the_same_message_twice_in_a_prompt_is_two_findings() -> None:
    loud = a_message("HEY")
    session = CheckedSession("s", "x", (a_request(1, [loud, a_message("so"), loud]),))
    assert [f.message_index for f in run_rules(session, [a_rule()]).findings] == [0, 2]


def test_what_cannot_be_decided_is_summed_by_its_reason() -> None:
    calm = a_message("hello")
    requests = tuple(a_request(n, [calm], whole=n == 1) for n in (1, 2, 3))
    (undecided,) = run_rules(CheckedSession("s", "x", requests), [a_rule()]).undecided
    assert (undecided.key, undecided.requests, undecided.needs) == ("k2", 2, "the whole list")


def test_a_rule_of_another_agent_is_not_run() -> None:
    session = CheckedSession("s", "x", (a_request(1, [a_message("HEY")]),))
    assert run_rules(session, [a_rule(applies=False)]).rules_run == ()
    assert run_rules(session, [a_rule(applies=False)]).findings == ()


def test_the_place_of_a_finding_counts_blocks_tools_included() -> None:
    """A gap is one block, whatever it spans; tools that are not known are one, too."""
    gap, loud = a_message("", gap=3), a_message("HEY")
    tool = Block(Tier.TOOLS, "", Kind.TOOL_SCHEMA, "{}", name="Read")
    messages = [a_message("hello"), gap, gap, gap, loud]
    known = a_request(1, messages, tools=(tool, tool))
    unknown = a_request(2, [a_message("ho"), loud], tools_known=False)
    checked = run_rules(CheckedSession("s", "x", (known, unknown)), [a_rule()])
    assert [(f.key, f.message_index) for f in checked.findings] == [("k1", 4), ("k2", 1)]
    assert checked.places == (4, 2)


def test_what_a_request_proves() -> None:
    head = CheckedMessage("system", Sort.SYSTEM, a_message("s").blocks, MessageNote(), b"s")
    request = a_request(
        1, [head, a_message("a"), a_message("b")], verified_from=2, whole=False, head_proven=True
    )
    assert [request.proves(i) for i in range(3)] == [True, False, True]
    assert request.leading == 1
    assert [i for i, _ in replace(request, common=2).fresh()] == [2]
