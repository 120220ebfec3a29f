"""Changes requests that schemathesis makes: a time limit of milliseconds is meant to pass."""

import schemathesis

SHORTEST = 10_000


@schemathesis.hook
def before_call(context, case, kwargs):
    limits = case.body.get("context") if isinstance(case.body, dict) else None
    limit = limits.get("timeout") if isinstance(limits, dict) else None
    if isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < SHORTEST:
        limits["timeout"] = SHORTEST
