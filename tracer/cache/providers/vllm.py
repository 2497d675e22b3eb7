"""vLLM: full blocks only, least recently used first out, one replica."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_DOC = "https://docs.vllm.ai/en/latest/design/prefix_caching/"

PROVIDER = Provider(
    name="vllm",
    title="vLLM",
    endpoints=(r"vllm",),
    provider_ids=(r"vllm",),
    model_ids=(),
    match=same(Match.PREFIX, _DOC),
    granularity=same(
        16,
        f"default; 528 to 1,600 on hybrid models, taken from the reads where they show it: {_DOC}",
    ),
    minimum=same(16, f"one block: {_DOC}"),
    lifetime=same(Lifetime(None, None), f"no lifetime, least recently used: {_DOC}"),
    convention=Value(
        Convention.INCLUSIVE, "cached_tokens only with --enable-prompt-tokens-details"
    ),
    write_factor=same(None, "compute"),
    read_factor=same(None, "compute"),
    params=rendered("chat template"),
    self_hosted=True,
)
