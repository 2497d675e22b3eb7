"""Another model answered. A cache belongs to one model, so all of the prompt is new to it.

A switch that the user asked for is an expected rebuild. A fallback, an alias that points elsewhere
or a router that changes its mind is not: nobody asked, and the tokens were billed all the same.
"""

from tracer.cache.case import Case
from tracer.cache.expected import model_changed
from tracer.cache.wording import tokens
from tracer.model.verdict import CallFacts, Certainty, Fault, FoundCause

CODE = "MODEL_CHANGED"
TITLE = "model changed"
ORDER = 5
FIX = "Keep one model for a conversation, and give side work to a subagent with a cache of its own."
_MANY_SWITCHES = 3


def detect(case: Case) -> FoundCause | None:
    """The requested or the returned model differs (cache-rules.md 2.3, 5)."""
    call, baseline = case.call, case.baseline
    if baseline is None or not model_changed(call, baseline):
        return None
    asked = bool(baseline.model_id and call.model_id and baseline.model_id != call.model_id)
    old = baseline.model_id if asked else baseline.returned_model_id
    new = call.model_id if asked else call.returned_model_id
    switches = _switches(case)
    by_user = asked and call.attempt == 1 and switches < _MANY_SWITCHES
    subtype = "switched" if by_user else "fallback" if not asked or call.attempt > 1 else "routed"
    why = {
        "switched": "the model that was asked for changed",
        "fallback": "another model answered than before, which nobody asked for",
        "routed": f"the model changed {switches} times in this conversation",
    }[subtype]
    size = baseline.prompt_tokens
    evidence = [f"asked for: {baseline.model_id or '?'} → {call.model_id or '?'}"]
    if baseline.returned_model_id or call.returned_model_id:
        evidence.append(
            f"answered: {baseline.returned_model_id or '?'} → {call.returned_model_id or '?'}"
        )
    if size is not None:
        evidence.append(f"{tokens(size)} were cached for {old} and are new to {new}")
    return FoundCause(
        code=CODE,
        subtype=subtype,
        certainty=Certainty.CERTAIN,
        summary=f"The model changed from {old} to {new} ({why}); a cache belongs to one model.",
        fix=FIX,
        token_offset=0,
        before=old,
        after=new,
        fault=Fault.USER if by_user else Fault.CLIENT if asked else Fault.PROVIDER,
        expected=by_user,
        evidence=tuple(evidence),
    )


def _switches(case: Case) -> int:
    """How often the requested model changed in this session's lane of work, this time included."""
    calls: list[CallFacts] = [
        *(e.facts for e in case.earlier if e.facts.purpose is case.call.purpose), case.call
    ]  # fmt: skip
    models = [c.model_id for c in calls if c.model_id]
    return sum(1 for a, b in zip(models, models[1:], strict=False) if a != b)
