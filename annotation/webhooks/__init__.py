"""Webhooks: addresses to which the events of a study or benchmark are sent, in order, signed and again until received.

`annotation/outbox.py` writes the events, in the transaction of what happened. `send` delivers them from the worker:
`signing` signs them by the Standard Webhooks scheme, and `connection` connects only where it is allowed. `endpoints`
has what managers do to a webhook. `tasks` and `urls` import this room.
"""
