"""Static files: read once, named by their content, cached for ever under that name."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain; charset=utf-8",
    "md": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file. `version` is the start of the hash of its content."""

    content: bytes
    media_type: str
    version: str


def _walk(folder: Traversable, prefix: str) -> dict[str, Asset]:
    found: dict[str, Asset] = {}
    for item in folder.iterdir():
        if item.is_dir():
            found |= _walk(item, f"{prefix}{item.name}/")
            continue
        media_type = _TYPES.get(item.name.rpartition(".")[2])
        if media_type:
            content = item.read_bytes()
            version = hashlib.sha256(content).hexdigest()[:12]
            found[prefix + item.name] = Asset(content, media_type, version)
    return found


@cache
def assets() -> dict[str, Asset]:
    """All static files by their path under /static/."""
    return _walk(files("web").joinpath("static"), "")


def static_url(path: str) -> str:
    """The address of a static file, with its version. Raises KeyError for an unknown one."""
    return f"/static/{path}?v={assets()[path].version}"


def serve_static(request: Request) -> Response:
    """A static file; 304 where the browser has it, cached for ever where its version is asked."""
    asset = assets().get(request.path_params["path"])
    if asset is None:
        raise HTTPException(404, "There is no such file.")
    etag = f'"{asset.version}"'
    lasting = request.query_params.get("v") == asset.version
    headers = {
        "ETag": etag,
        "Cache-Control": "public, max-age=31536000, immutable" if lasting else "no-cache",
    }
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
