"""Loading models and encoding images and captions.

Torch and the models' libraries are imported only when a model is loaded, by the modules that `loading.py` names and
those below them. Start with it; `encoder.py`, `chat.py` and `training_task.py` define what a loaded model does.
"""
