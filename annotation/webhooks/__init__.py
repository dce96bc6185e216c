"""Webhooks: addresses that get the events of a study or benchmark, in order, signed, and repeated until received.

`annotation/outbox.py` writes the events, in the same transaction as the change. `send` delivers them from the worker:
`signing` signs them by the Standard Webhooks scheme, and `connection` connects only to allowed addresses. `endpoints`
has managers' actions on a webhook. `tasks` and `urls` import this room.
"""
