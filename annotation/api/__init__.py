"""The API of studies: their figures, what was asked and answered in them, and running them. Only `urls` imports it.

Start reading in `studies.py` (studies, stages, figures) and `rows.py` (tasks, judgments, annotators, adjudications,
flags); `benchmarks/api/endpoints.py` has what every endpoint shares.
"""
