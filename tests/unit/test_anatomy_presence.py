"""What becomes of a key from request to request."""

from benchmarks.anatomy_accuracy import prompt_from
from tests.presences import presence_cells
from tracer.anatomy.presence import (
    Cell,
    Item,
    PresenceRow,
    Request,
    Run,
    groups_of,
    presence_rows,
)
from tracer.anatomy.prompt import anatomy_of


def request(words: str, *, complete: bool = True) -> Request:
    """Items written as key, key=content, or key=content@place."""
    items = []
    for word in words.split():
        key, _, rest = word.partition("=")
        content, _, place = rest.partition("@")
        items.append(Item(key, content, place))
    return Request(items, complete)


def cells(*requests: Request) -> list[str]:
    return [" ".join(f"{k}:{c}" for k, c in row) for row in presence_cells(requests)]


def test_each_cell() -> None:
    assert cells(
        request("a=1 b=1"),
        request("a=1 b=2"),
        request("a=1@x"),
        request("a=1@x b=2"),
        request("a=1@x b=2"),
    ) == [
        "a:appeared b:appeared",
        "a:same b:changed",
        "a:moved b:gone",
        "a:same b:appeared",
        "a:same b:same",
    ]


def test_what_was_put_in_between_does_not_move_its_neighbours() -> None:
    assert cells(request("a b c"), request("a x b c"))[1] == "a:same x:appeared b:same c:same"


def test_the_fewest_keys_have_moved() -> None:
    assert cells(request("a b c d"), request("d a b c"))[1] == "d:moved a:same b:same c:same"


def test_a_change_of_content_outweighs_a_move() -> None:
    assert cells(request("a=1 b=1"), request("b=1 a=2"))[1].endswith("a:changed")


def test_a_request_with_gaps_hides_and_does_not_end() -> None:
    assert cells(
        request("a=1 b=1"), request("b=1", complete=False), request("a=1 b=1"), request("b=1")
    ) == ["a:appeared b:appeared", "b:same a:unseen", "a:same b:same", "b:same a:gone"]


def test_what_is_hidden_and_comes_back_other_has_changed() -> None:
    seen = cells(request("a=1"), request("", complete=False), request("a=2"))
    assert seen == ["a:appeared", "a:unseen", "a:changed"]


def test_items_with_one_key_are_told_apart() -> None:
    assert cells(request("a=1 a=2"), request("a=1 a=3"))[1] == "a:same a (2):changed"


def test_rows_put_equal_cells_together() -> None:
    rows = presence_rows([request("a"), request("a"), request("a b"), request("b")])
    assert rows == (
        PresenceRow("a", (Run(Cell.APPEARED, 0, 0), Run(Cell.SAME, 1, 2), Run(Cell.GONE, 3, 3))),
        PresenceRow("b", (Run(Cell.APPEARED, 2, 2), Run(Cell.SAME, 3, 3))),
    )


def test_the_items_of_a_prompt() -> None:
    tag = "<system-reminder>\nPlan mode is active.\n</system-reminder>"
    tools = [{"name": "Read", "input_schema": {}}]
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": tag},
        {"role": "tool", "content": f"x\n\n{tag}", "toolCallId": "1", "toolName": "Read"},
        {"role": "system", "content": "Plan mode still active."},
    ]
    prompt = prompt_from(messages, tools)
    made = groups_of(prompt, anatomy_of(prompt))
    assert all(group.complete for group in made)
    assert [[(i.key, i.place) for i in group.items] for group in made] == [
        [("tool Read", "")],
        [],
        [("reminder runtime_mode", "reminder+mcs")],
        [("mcs 3", "3")],
    ]
    partial = prompt_from([None, *messages])
    assert not groups_of(partial, anatomy_of(partial)).reminders.complete
