"""Code that runs without Django's models: images, archives, parquet files and the models that score.

`benchmarks` and `annotation` import it; it imports neither.
"""
