"""`tracer story`: the turns of a session, and what else stands beside its prompts."""

from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import print_json, print_table
from tracer.cli.table import Column
from tracer.cli.text import UNKNOWN, duration, moment, number, visible
from tracer.jsonview.story import story_json
from tracer.model.story import SessionStory, TurnView
from tracer.service.naming import session_id_of
from tracer.words import plural

_COLUMNS = (
    Column("turn", right=True),
    Column("started (UTC)"),
    Column("took", right=True),
    Column("status"),
    Column("requests", right=True),
    Column("retries", right=True),
    Column("tools", right=True),
    Column("input", right=True),
    Column("cache read", right=True),
    Column("output", right=True),
    Column("the user's words", flexible=True),
)


@click.command("story")
@click.argument("session", callback=utf8)
@reveal_option
@db_option
@json_option
def command(session: str, db_path: Path | None, as_json: bool) -> None:
    """List the turns of SESSION with the user's words, its subagents and its parent.

    SESSION is an id or a unique beginning of one. What the files beside the prompts tell of tool
    calls, usage and compactions is in the JSON.
    """
    service = open_service(db_path)
    story = service.story(session_id_of(service, session))
    if as_json:
        print_json(story_json(story))
        return
    if story.turns:
        print_table(_COLUMNS, [_row(turn, story) for turn in story.turns])
    else:
        click.echo("No file that was read names a turn of this session.")
    for words in _family(story):
        click.echo(visible(words))


def _row(turn: TurnView, story: SessionStory) -> list[str]:
    calls = [call for call in story.tools if call.turn_id == turn.turn_id]
    failed = sum(call.failed for call in calls)
    words = " ".join(turn.words.split()) or UNKNOWN
    return [
        str(turn.number),
        moment(turn.started_at_ms),
        duration(turn.duration_ms),
        turn.status or UNKNOWN,
        number(turn.model_requests),
        number(turn.retries),
        number(len(calls)) + (f" ({failed} failed)" if failed else ""),
        number(turn.input_tokens),
        number(turn.cache_read_tokens),
        number(turn.output_tokens),
        f"(taken back by a rewind) {words}" if turn.abandoned else words,
    ]


def _family(story: SessionStory) -> list[str]:
    said = [""] if story.parent or story.children else []
    if story.parent:
        said.append(f"Started by {story.parent.session_id} ({story.parent.join}).")
    if story.children:
        said.append(f"{plural(len(story.children), 'subagent')}:")
        said += [
            f"  {child.session_id}  {child.agent_type or UNKNOWN}  {child.status or UNKNOWN}  "
            f"{child.title or UNKNOWN}"
            for child in story.children
        ]
    return said
