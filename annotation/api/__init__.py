"""The API for studies: their statistics, questions and answers, and running them. Only `urls` imports it.

Start reading in `studies.py` (studies, stages, figures) and `rows.py` (tasks, judgments, annotators, adjudications,
flags). Changes are in `setup.py` (new studies, protocol files), `managing.py` (settings, members),
`preparing.py` (instructions, checks, assignment), `running.py` (moves), `deciding.py` (annotators, tasks, flags),
`readers.py`, `invitations.py` and `results.py` (exports, releases). `benchmarks/api/endpoints.py`, `commands.py` and
`forms.py` have what all endpoints share.
"""
