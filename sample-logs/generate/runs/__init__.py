"""The runs: each module tells one story and returns one or more samples."""

from collections.abc import Callable

from generate.runs import anatomy, helpers, long, mcs, plain, rough, switches, trouble, variants
from generate.sample import Sample

BUILDERS: tuple[Callable[[], Sample], ...] = (
    plain.production_info,
    plain.development_debug,
    plain.unredacted,
    mcs.mcs_on,
    mcs.mcs_off,
    long.windowed_long,
    trouble.retries_failures,
    helpers.subagent,
    rough.damaged,
    rough.older_build,
    switches.full_retention_switch,
    variants.chinese,
    switches.size_reset,
    variants.prompt_variants,
    anatomy.anatomy_on,
    anatomy.anatomy_off,
    anatomy.anatomy_variants,
    anatomy.anatomy_numbers,
)


def build_all() -> list[Sample]:
    """Return every sample, in the order of the README."""
    return [build() for build in BUILDERS]
