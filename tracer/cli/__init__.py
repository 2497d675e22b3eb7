"""The command line. `main` is the entry point of the console script `tracer`."""

from importlib.metadata import PackageNotFoundError, version

import click

from tracer.cli.group import TracerGroup


def _version() -> str:
    try:
        return version("context-tracer")
    except PackageNotFoundError:
        return "unknown (not installed)"


@click.group(
    cls=TracerGroup,
    name="tracer",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 fine, 1 findings above a threshold, 2 wrong use, "
    "3 input that could not be read.",
)
@click.version_option(_version(), prog_name="tracer")
def main() -> None:
    """See what every request of an LLM coding agent really contained.

    Start with `tracer ingest`, then `tracer sessions` and `tracer serve`.
    """
