"""Where Winnow keeps images, exports and releases: a folder, or a bucket of an object storage that speaks S3.

`files.py` says what both offer; settings.STORAGES chooses. Other rooms use `files.kept` and never a path of a kept
file. `bucket.py` alone imports boto3, and only installations with a bucket import it.
"""
