"""The read-only API of benchmarks, their items and jobs, and what every list of the API shares.

`annotation/api` builds its endpoints on `endpoints.py`, where to start reading: filters, pages and the description.
"""
