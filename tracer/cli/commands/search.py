"""`tracer search`: where a text stands, and who sent it."""

from pathlib import Path

import click

from tracer.cli.options import db_option, json_option, open_service, reveal_option, utf8
from tracer.cli.output import emphasis, print_json
from tracer.cli.text import moment, number, visible
from tracer.jsonview.search import search_json
from tracer.model.search_views import KINDS, FoundPiece, FoundPlace, FoundText, SearchAsked, TextUse
from tracer.model.search_views import SearchPage as Found
from tracer.service.naming import session_id_of
from tracer.words import plural

SHOWN_USES = 3


@click.command("search")
@click.argument("query", callback=utf8)
@click.option("--session", callback=utf8, default="", metavar="SESSION", help="Only its texts.")
@click.option("--kind", type=click.Choice(KINDS), default=None, help="Only texts of this kind.")
@click.option(
    "--section", callback=utf8, default="", metavar="NAME", help="Only in this section of a prefix."
)
@click.option(
    "--source", callback=utf8, default="", metavar="NAME", help="Only in reminders of this source."
)
@click.option("--exact", is_flag=True, help="Tell upper from lower case.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most so many."
)
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, help="Leave out so many texts first."
)
@reveal_option
@db_option
@json_option
def command(
    query: str,
    session: str,
    kind: str | None,
    section: str,
    source: str,
    exact: bool,
    limit: int,
    offset: int,
    db_path: Path | None,
    as_json: bool,
) -> None:
    """Find QUERY in every stored text: a part of a word, code or Chinese will do.

    Each text is listed once, the last stored first, with the requests that sent it.
    """
    service = open_service(db_path)
    session_id = session_id_of(service, session) if session else ""
    asked = SearchAsked(query, session_id, kind or "", section, source, exact, limit, offset)
    found = service.search(asked)
    if as_json:
        print_json(search_json(found))
    else:
        _print(found)


def _print(found: Found) -> None:
    total = plural(found.total, "text")
    click.echo(
        f"{'More than ' if found.at_least else ''}{total if found.total else 'Nothing'} found."
    )
    for text in found.texts:
        _print_text(text)
    end = found.asked.offset + len(found.texts)
    if end < found.total:
        click.echo(f"\n{number(len(found.texts))} of {number(found.total)}: see --limit, --offset.")
    if found.at_least:
        click.echo("Older texts that match are left out: narrow the query to see them.")
    if found.unsearched:
        click.echo(f"Not searched: the oldest {plural(found.unsearched, 'text')}.")


def _print_text(text: FoundText) -> None:
    click.echo(f"\n{emphasis(visible(place_words(text.place)))}{_count(text.matches)}")
    click.echo(f"  {_shown(text.piece)}")
    for use in text.uses[:SHOWN_USES]:
        click.echo(f"  {visible(use_words(use))}")
    more = len(text.uses) - SHOWN_USES + text.more_uses
    if more > 0:
        click.echo(f"  and {plural(more, 'more session')}")
    if text.source is not None:
        click.echo(f"  {visible(text.source.path)}:{text.source.line}")


def _count(matches: int) -> str:
    return "" if matches == 1 else f"  {number(matches)} matches"


def place_words(place: FoundPlace) -> str:
    """Where a text stands, in words: `tool-result of Bash, message 12, block 30`."""
    words = [place.kind + (f" of {place.name}" if place.name else "")]
    if place.message_index is not None:
        words.append(f"message {place.message_index}")
    if place.index is not None:
        words.append(f"block {place.index}")
    if place.section:
        words.append(f"section {place.section}")
    if place.reminder:
        words.append(f"reminder {place.reminder}")
    return ", ".join(words)


def use_words(use: TextUse) -> str:
    """Who sent a text, in a line."""
    title = f"{use.session_title or use.session_id or 'no session'}"
    if use.times_sent:
        sent = f"sent {plural(use.times_sent, 'time')}: {use.first_key} (#{number(use.first_seq)})"
        if use.last_key != use.first_key:
            sent += f" to {use.last_key} (#{number(use.last_seq)})"
    elif use.answered_key:
        sent = f"answered by {use.answered_key}"
    else:
        sent = f"request {use.first_key}" if use.first_key else moment(use.at_ms)
    return f"{title}  {sent}"


def _shown(piece: FoundPiece) -> str:
    """The piece on one line, its matches emphasised."""
    parts, at = ["…" if piece.cut_before else ""], 0
    for start, end in piece.matches:
        parts += [_line(piece.text[at:start]), emphasis(_line(piece.text[start:end]))]
        at = end
    return "".join([*parts, _line(piece.text[at:]), "…" if piece.cut_after else ""])


def _line(text: str) -> str:
    return visible("".join(" " if c in "\r\n\t" else c for c in text))
