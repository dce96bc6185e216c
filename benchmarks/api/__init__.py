"""The API of benchmarks, imports, predictions and jobs, and the common parts of every API endpoint.

Start reading in `endpoints.py` (filters, pages, the description) and `commands.py` (requests that change something:
idempotency keys, jobs); `errors.py` has the format of refusals. `annotation/api` builds on them.
"""
