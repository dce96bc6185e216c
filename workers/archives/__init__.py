"""Files from a folder, a zip or a tar, read as streams and never extracted; unsafe names and bombs are refused.

Start with `archive.py`; `source.py` has the common parts.
"""
