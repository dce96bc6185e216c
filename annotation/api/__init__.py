"""The read-only API of studies: what was asked and answered in them, and their figures. Only `urls` imports this room.

Start reading in `studies.py` (studies, stages, figures) and `rows.py` (tasks, judgments, annotators, adjudications,
flags); `benchmarks/api/endpoints.py` has what every endpoint shares.
"""
