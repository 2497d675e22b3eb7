"""The pages, a module each. A module with `ROUTES` and no leading underscore is served."""

from starlette.convertors import Convertor, register_url_convertor

from web.filters import of_segment, segment


class _AnyText(Convertor[str]):
    """A piece of an address with any character in it: an id from a log may hold a line break."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """The text as it stands in the address."""
        return value

    def to_string(self, value: str) -> str:
        """The text as it is."""
        return value


class _Id(_AnyText):
    """An id as `web.filters.segment` writes it, so that no page's name below it is taken for a part
    of it."""

    def convert(self, value: str) -> str:
        """The id."""
        return of_segment(value)

    def to_string(self, value: str) -> str:
        """The id as it stands in an address."""
        return segment(value)


# Before the modules of this package are imported: their routes look it up by name.
register_url_convertor("path", _AnyText())
register_url_convertor("id", _Id())
