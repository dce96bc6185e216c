"""Setting up and running a study: its stages, instructions, members, states and deletion.

Start in lifecycle.py (`create_study`, `move_stage`). setup_forms.py has the forms for setting up a study, views.py the
pages. Figures and the rooms above may import it.
"""
