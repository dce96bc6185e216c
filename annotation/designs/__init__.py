"""Designs: what a study is to consist of before it exists, and what it will take.

Pure; rooms from `studies` upwards import it. Start with `plan` (stages, their contradictions, the expected effort);
`presets` has the studies of the papers by name.
"""
