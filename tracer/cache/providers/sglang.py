"""SGLang: a radix tree over tokens or pages, one engine."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_SOURCE = "cache-rules.md 1.7"

PROVIDER = Provider(
    name="sglang",
    title="SGLang",
    endpoints=(r"sglang",),
    provider_ids=(r"sglang",),
    model_ids=(),
    match=same(Match.PREFIX, f"radix tree unless --disable-radix-cache: {_SOURCE}"),
    granularity=same(1, f"token, or the server's page_size: {_SOURCE}"),
    minimum=same(1, f"one page: {_SOURCE}"),
    lifetime=same(Lifetime(None, None), f"no lifetime, least recently used: {_SOURCE}"),
    convention=Value(Convention.INCLUSIVE, "cached_tokens only with --enable-cache-report"),
    write_factor=same(None, "compute"),
    read_factor=same(None, "compute"),
    params=rendered("chat template"),
    self_hosted=True,
)
