"""Changes requests that schemathesis makes: a time limit of milliseconds is meant to pass, and a
wait is meant to last."""

import schemathesis

SHORTEST = 10_000
LONGEST_WAIT = 1


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


@schemathesis.hook
def before_call(context, case, kwargs):
    limits = case.body.get("context") if isinstance(case.body, dict) else None
    limit = limits.get("timeout") if isinstance(limits, dict) else None
    if is_number(limit) and 0 < limit < SHORTEST:
        limits["timeout"] = SHORTEST
    query = case.query if isinstance(case.query, dict) else {}
    if is_number(query.get("wait")) and query["wait"] > LONGEST_WAIT:
        query["wait"] = LONGEST_WAIT
