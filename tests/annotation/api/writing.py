"""Writing through the API in tests."""

import uuid

from django.urls import reverse


def post(client, route: str, /, *args, key: str | None = None, expects: int | None = None, parts=None, **body):
    """The answer to a POST of the body as JSON, or as a form with files (`parts`); with a new key by default."""
    headers = {"Idempotency-Key": uuid.uuid4().hex if key is None else key}
    sent = {"data": body | parts} if parts else {"data": body, "content_type": "application/json"}
    answer = client.post(reverse(route, args=args), headers=headers, **sent)
    assert expects in (None, answer.status_code), answer.content
    return answer


def made(client, route: str, /, *args, expects: int = 201, **body) -> dict:
    return post(client, route, *args, expects=expects, **body).json()
