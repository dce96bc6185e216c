"""Setting up and running a study: its stages, instructions, members, states and deletion.

Start in lifecycle.py (`create_study`, `move_stage`). setup_forms.py, study_form.py and role_counts.py have the forms
for a new study, and setup.py puts them together; cards.py has possible questions; views.py and instructions_views.py
have the pages; markdown.py turns the texts that managers write into HTML. Figures and the rooms above it may import
this room.
"""
