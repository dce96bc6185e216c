"""Writing through the API in tests."""

import uuid

from django.urls import reverse


def post(client, name: str, *args, key: str | None = None, expects: int | None = None, files=None, **body):
    """The answer to a POST of the body as JSON, or with `files` as a form; a new key unless one is given."""
    headers = {"Idempotency-Key": uuid.uuid4().hex if key is None else key}
    sent = {"data": body | files} if files else {"data": body, "content_type": "application/json"}
    answer = client.post(reverse(name, args=args), headers=headers, **sent)
    assert expects in (None, answer.status_code), answer.content
    return answer


def made(client, name: str, *args, expects: int = 201, **body) -> dict:
    return post(client, name, *args, expects=expects, **body).json()
