"""A family to copy: rename the file without the underscore, and the registry finds it.

The tests then ask of it: a name that is the file's, a source for each value, that it recognises a
call by at least one of endpoint, provider and model, and that appending is never a miss.
"""

from tracer.cache.providers._params import rendered
from tracer.cache.providers.base import MINUTE_MS, Lifetime, Match, Provider, Value, same
from tracer.model.usage import Convention

_DOC = "https://example.com/docs/prompt-caching"

PROVIDER = Provider(
    name="skeleton",
    title="Example provider",
    endpoints=(r"api\.example\.com",),
    provider_ids=(r"example",),
    model_ids=(r"^example-",),
    match=same(Match.PREFIX, _DOC),
    granularity=same(64, _DOC),
    minimum=same(1_024, _DOC),
    lifetime=same(Lifetime(5 * MINUTE_MS, 60 * MINUTE_MS), _DOC),
    convention=Value(Convention.INCLUSIVE, _DOC),
    write_factor=same(1.0, _DOC),
    read_factor=same(0.1, _DOC),
    params=rendered("not documented"),
)
