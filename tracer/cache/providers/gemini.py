"""Gemini: implicit caching gives no guarantee, so an unread prefix is normal variation."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import ByModel, Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_DOC = "https://ai.google.dev/gemini-api/docs/caching"

PROVIDER = Provider(
    name="gemini",
    title="Google Gemini",
    endpoints=(
        r"generativelanguage\.googleapis\.com",
        r"aiplatform\.googleapis\.com(?!.*anthropic)",
    ),
    provider_ids=(r"gemini", r"google(?!.*anthropic)", r"vertex(?!.*anthropic)"),
    model_ids=(r"gemini",),
    match=same(Match.PREFIX, _DOC),
    granularity=same(1, "not documented"),
    minimum=ByModel(Value(1_024, _DOC), ((r"pro", Value(4_096, _DOC)),)),
    lifetime=same(Lifetime(None, None), f"implicit: not stated: {_DOC}"),
    convention=Value(Convention.INCLUSIVE, _DOC),
    write_factor=same(1.0, f"implicit writing is free: {_DOC}"),
    read_factor=same(None, "up to about 90 % off; see a price table"),
    params=rendered(f"not documented: {_DOC}"),
    guaranteed=Value(
        False, "measured: 0 % for five growing turns, then 99.6 % (cache-rules.md 1.5)"
    ),
)
