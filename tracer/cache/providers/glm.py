"""Z.ai / GLM: automatic, in blocks of 64 tokens, on whichever node a request reaches."""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import (
    MINUTE_MS,
    ByModel,
    Lifetime,
    Lost,
    Match,
    Provider,
    Value,
    same,
)
from tracer.model.usage import Convention

_DOC = "https://docs.z.ai/guides/capabilities/cache"

PROVIDER = Provider(
    name="glm",
    title="Z.ai / GLM",
    endpoints=(r"api\.z\.ai", r"bigmodel\.cn"),
    provider_ids=(r"z\.?ai", r"zhipu", r"bigmodel", r"\bglm"),
    model_ids=(r"\bglm-?\d", r"glm"),
    match=same(Match.PREFIX, _DOC),
    granularity=same(64, "measured: all published reads are multiples of 64 (cache-rules.md 0)"),
    minimum=same(0, f"not documented: {_DOC}"),
    lifetime=same(
        Lifetime(30 * MINUTE_MS, None),
        "not documented; measured: about 30 minutes, one source (cache-rules.md 1.1)",
    ),
    convention=Value(
        Convention.INCLUSIVE, f"exclusive on its Anthropic endpoint (cache-rules.md 1.6): {_DOC}"
    ),
    write_factor=same(1.0, f"writing is free: {_DOC}"),
    read_factor=same(None, "discounted; see a price table"),
    params=rendered(
        "not documented",
        ByModel(
            Value(Lost.UNKNOWN, "not documented"),
            (
                (
                    r"glm-5[.-]3-flash",
                    Value(
                        Lost.TOOLS,
                        "measured: the effort line stands at token 8, n_past fell to 9 "
                        "(cache-rules.md 3.1, no. 84)",
                    ),
                ),
            ),
        ),
    ),
    affinity_headers=Value(
        ("x-session-id",), "measured: 52 % became 96 % over 78 calls (cache-rules.md 1.6)"
    ),
)
