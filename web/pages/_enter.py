"""The page that leads on after a token was accepted, without the token in the address."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class EnterPage:
    """Leads to `href`, an address of this server."""

    template: ClassVar[str] = "pages/enter.html"
    href: str
