"""What score.py and lmms_eval/utils.py are made of. Start with `command.py`.

`items.py`, `images.py`, `models.py`, `answers.py` and `command.py` read a release, run a model and print its figures;
`picks.py` those of the questions with options in `questions.jsonl`.
The other modules are Winnow's own, copied with their imports changed: the measures of each benchmark (`bivlc.py`,
`visla.py`, `hard_positive.py`, `sugarcrepe.py`, `aro.py`, with `base.py` and `edit_distance.py`), the
questions and scores of its items (`kinds.py`, `plan.py`, `choices.py`), and its figures (`stored.py`, `evaluators.py`,
`item_figures.py`). They need the standard library, and those that compute with models' scores numpy.
"""
