"""Loading models and encoding images and captions.

Only `clip.py`, `sentences.py`, `language.py` and `device.py` here import torch and the models' libraries. Start with
`encoder.py`.
"""
