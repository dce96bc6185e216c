"""Storage for images, exports and releases: a folder, or a bucket of an S3-compatible object storage.

`files.py` is their common interface; settings.STORAGES chooses. Other rooms use `files.kept` and never a path of a kept
file. Only `bucket.py` imports boto3, and only installations with a bucket import it.
"""
