"""Loading models and encoding images and captions.

Torch and the models' libraries are imported only when a model is loaded, by the modules that `encoder.py` names and
those below them. Start there.
"""
