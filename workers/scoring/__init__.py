"""Loading models and encoding images and captions.

Only here torch and the models' libraries are imported, and only by `clip.py`, `sentences.py`, `language.py` and
`device.py`. Start with `encoder.py`.
"""
