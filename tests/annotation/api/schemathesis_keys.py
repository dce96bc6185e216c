"""Loaded by Schemathesis. Each request gets a new idempotency key, or most would be refused as another one's. The
second of three to each address has no token, so that one process asks with it and without: another takes seconds to
start."""

import os
import uuid
from collections import Counter

import schemathesis

KEY, TOKEN = "Idempotency-Key", os.environ["WINNOW_TOKEN"]
calls: Counter[str] = Counter()


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.headers and case.headers.get(KEY, "").strip():
        case.headers[KEY] = uuid.uuid4().hex
    calls[case.operation.label] += 1
    if calls[case.operation.label] % 3 != 2:
        case.headers["Authorization"] = f"Bearer {TOKEN}"
