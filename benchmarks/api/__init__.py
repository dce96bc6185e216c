"""The read-only API of benchmarks, their items and jobs, and the common parts of every list in the API.

`annotation/api` builds its endpoints on `endpoints.py`, where to start reading: filters, pages and the description.
"""
