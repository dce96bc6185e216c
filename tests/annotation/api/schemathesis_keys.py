"""Loaded by Schemathesis: a new idempotency key for each request, or most would be refused as another one's."""

import uuid

import schemathesis

KEY = "Idempotency-Key"


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.headers and case.headers.get(KEY, "").strip():
        case.headers[KEY] = uuid.uuid4().hex
