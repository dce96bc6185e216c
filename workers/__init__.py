"""Code that runs without Django models: images, archives, parquet files and scoring models.

`benchmarks` and `annotation` import it; it imports neither.
"""
