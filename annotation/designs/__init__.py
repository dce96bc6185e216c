"""Designs: the plan of a study before it exists, and its expected effort.

Pure; `studies` and the rooms above it import it. Start with `plan` (stages, their contradictions, the expected effort);
`presets` has the papers' studies by name, `setup_wording` describes a set-up in sentences, for reports and releases.
"""
