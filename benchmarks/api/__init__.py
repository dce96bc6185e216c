"""The API of benchmarks, imports, predictions and jobs, and what every endpoint of the API shares.

Start reading in `endpoints.py` (filters, pages, the description) and `commands.py` (what changes something: idempotency
keys, jobs); `errors.py` has the one shape of refusals. `annotation/api` builds on them.
"""
