"""Pages of benchmarks and their images, and resumable downloads (`ranges.py`). Start reading in `benchmarks.py`.

Besides `urls`, the dashboard imports `likeness.py` and releases import `ranges.py`.
"""
