"""llama.cpp server: the longest common prefix inside one slot."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_DOC = "https://github.com/ggml-org/llama.cpp/discussions/13606"

PROVIDER = Provider(
    name="llamacpp",
    title="llama.cpp server",
    endpoints=(r"llama[._-]?cpp", r"llama-server"),
    provider_ids=(r"llama[._-]?cpp", r"llama-server", r"ollama", r"lm-?studio"),
    model_ids=(r"\.gguf$",),
    match=same(Match.PREFIX, _DOC),
    granularity=same(1, _DOC),
    minimum=same(0, _DOC),
    lifetime=same(Lifetime(None, None), f"a slot lives until another prompt takes it: {_DOC}"),
    convention=Value(Convention.INCLUSIVE, "usage.prompt_tokens = cache_n + prompt_n"),
    write_factor=same(None, "compute"),
    read_factor=same(None, "compute"),
    params=rendered("chat template"),
    self_hosted=True,
)
