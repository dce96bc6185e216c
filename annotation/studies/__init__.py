"""Setting up and running a study: its stages, instructions, members, states and deletion.

Start in lifecycle.py (`create_study`, `move_stage`). setup_forms.py and setup_views.py are the pages on which a study
is set up, views.py those of its members and its deletion. Figures and the rooms above may import it.
"""
