"""`tracer serve`: the pages of one database, and the files that it follows."""

import ipaddress
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import click
import uvicorn

from tracer import service
from tracer.errors import UsageError
from tracer.service.memory import keep_little
from tracer.service.settings import load_settings
from web.app import create_app
from web.compiled import compile_all
from web.follower import Follower
from web.rendering import environment
from web.security import ANY_ADDRESS, LOOPBACK_HOSTS

DEFAULT_PORT = 8321


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--db",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="TRACER_DB",
    show_envvar=True,
    help="The database. Default: the platform's data folder.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535),
    help="The port; 0 takes a free one.",
)  # fmt: skip
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="ZCode's folder, if it is not ~/.zcode/cli.",
)
@click.option("--no-watch", is_flag=True, help="Read the files once; do not follow them.")
@click.option("--token", help="What a browser must know. Off the loopback one is always needed.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Another name of this machine.")
@click.option(
    "--reveal-secrets",
    is_flag=True,
    help="Show keys, tokens and passwords on all pages, which are masked otherwise.",
)
def serve(
    paths: tuple[str, ...],
    db: Path | None,
    host: str,
    port: int,
    root: Path | None,
    no_watch: bool,
    token: str | None,
    allow_host: tuple[str, ...],
    reveal_secrets: bool,
) -> None:
    """Serve the pages, and follow PATHS (files, folders, globs).

    Without PATHS the default locations are followed, unless --db names a database that is there
    already: that one is only shown.
    """
    local = is_loopback(host)
    if token is not None and not token.strip():
        raise UsageError("--token is empty, and anybody knows that. Leave it out, or name one.")
    if not local and token is None:
        token = secrets.token_urlsafe(24)
    listener = listen(host, port)
    follower = prepare(db, paths, root, follow=not no_watch)
    app = create_app(
        service.Service(
            db or service.default_db_path(),
            rules_off=load_settings().rules_off,
            reveal_secrets=reveal_secrets,
        ),
        token=token,
        allowed_hosts=(*allow_host, *hosts_of(host)),
        follower=follower,
    )
    compile_all(environment())
    click.echo(f"Context Tracer: {address(host, listener.getsockname()[1], token)}")
    if reveal_secrets:
        click.echo("Secrets are shown on all pages (--reveal-secrets).")
    if follower is not None:
        click.echo(f"Following {follower.state.what}. Stop with Ctrl+C.")
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, proxy_headers=False, server_header=False
    )
    keep_little()
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after it has shut down
        uvicorn.Server(config).run(sockets=[listener])


def prepare(
    db: Path | None, paths: tuple[str, ...], root: Path | None, *, follow: bool
) -> Follower | None:
    """The follower of the paths; None where nothing is to be followed. Without following, named
    paths are read once."""
    db_path = db or service.default_db_path()
    service.require_paths(paths)
    followed = follow and (paths or root is not None or db is None or not db.exists())
    read_once = not followed and (paths or not db_path.exists())
    service.bring_up_to_date(db_path)  # pages are asked for before the first file is read
    if followed:
        return Follower(db_path, paths, root)
    if read_once:
        result = service.ingest(db_path, paths, root=root)
        click.echo(f"Read {len(result.files)} files, {result.new_records} new records.")
    return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hosts_of(host: str) -> tuple[str, ...]:
    """The names under which a server that listens on `host` answers, beside the loopback's."""
    if host in LOOPBACK_HOSTS:
        return ()
    if host in ("0.0.0.0", "::"):
        return (ANY_ADDRESS, socket.gethostname())
    return (f"[{host}]" if ":" in host else host,)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises UsageError where that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host}:{port}: {error.strerror or error}."
            " Choose another port with --port, or 0 for a free one."
        ) from error
    return listener


def address(host: str, port: int, token: str | None) -> str:
    """The address to open in a browser."""
    name = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")
