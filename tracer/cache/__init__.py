"""Provider rules, expected read, causes of a miss: one cause a file. Pure.

`explain` gives the verdict for one request, `session_cache` the sums of a session. A stored verdict
belongs to a RULES_VERSION: raise it whenever a rule, a value or a text changes.
"""

from tracer.cache.causes import all_causes
from tracer.cache.explain import explain
from tracer.cache.providers import Provider, all_providers, provider_for

RULES_VERSION = 9

__all__ = ["RULES_VERSION", "Provider", "all_causes", "all_providers", "explain", "provider_for"]

# Found once, at import: a verdict reads no folder.
all_providers()
all_causes()
