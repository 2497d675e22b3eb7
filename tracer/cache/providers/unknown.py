"""A provider that no family recognises: a common prefix is expected, nothing else is claimed."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_NONE = "the provider is not known"

PROVIDER = Provider(
    name="unknown",
    title="an unknown provider",
    endpoints=(),
    provider_ids=(),
    model_ids=(),
    match=same(Match.PREFIX, "what most providers do"),
    granularity=same(128, "the coarsest of the documented hosted providers, so as not to cry wolf"),
    minimum=same(1_024, "what most hosted providers document"),
    lifetime=same(Lifetime(None, None), _NONE),
    convention=Value(Convention.UNKNOWN, _NONE),
    write_factor=same(None, _NONE),
    read_factor=same(None, _NONE),
    params=rendered(_NONE),
)
