"""The API of studies: their figures, what was asked and answered in them, and running them. Only `urls` imports it.

Start reading in `studies.py` (studies, stages, figures) and `rows.py` (tasks, judgments, annotators, adjudications,
flags). What changes something is in `setup.py` (new studies, protocol files), `running.py` (moves), `invitations.py`
and `results.py` (exports, releases). `benchmarks/api/endpoints.py` and `commands.py` have what every endpoint shares.
"""
