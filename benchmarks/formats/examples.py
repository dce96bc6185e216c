"""A valid example for each kind of problem. Pure."""

from benchmarks.formats.base import Format

OF_FORMAT = {
    "COLUMN_MISSING", "INCOMPLETE_ROW", "JSON_INVALID", "NO_ROWS", "OTHER_FORMAT", "RAGGED_ROW", "SCHEMA",
    "UNKNOWN_FIELD", "VALUE_MISSING", "WRONG_DELIMITER", "WRONG_VALUE",
}  # fmt: skip
QUOTES = '7.jpg,"A sign, which says ""tea"".",A cup without a sign.\n'
NAMES = "in a row:     cups/7.jpg\nin the files: images.zip with cups/7.jpg, cups/8.jpg …\n"
OF_CODE = {
    "BAD_QUOTE": QUOTES,
    "CROP_OUTSIDE": "image of 640 × 480 pixels: x 10, y 0, width 64, height 48\n",
    "DUPLICATE_ID": "first row:  7\nsecond row: 7b\n",
    "MISSING_IMAGE": NAMES,
    "REMOTE_NOT_ALLOWED": NAMES,
    "SAME_CAPTIONS": "positive: A red cup.\nnegative: A blue cup.\n",
    "UNCLOSED_QUOTE": QUOTES,
    "UNSAFE_PATH": NAMES,
}


def right_example(code: str, format: Format | None) -> str:
    """Return a valid example for a problem of this code; empty if there is none to show."""
    if code in OF_FORMAT:
        return format.example if format else ""
    return OF_CODE.get(code, "")
