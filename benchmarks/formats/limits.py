"""Limits on text. docs/reference/formats.md publishes these numbers; a test compares the two."""

from benchmarks import records
from workers import outside_json

MIB = 2**20

MAX_FILE_BYTES = 128 * MIB  # a table or a JSON Lines file, counted while it is read
MAX_JSON_BYTES = 32 * MIB  # a JSON file, which must be read whole
MAX_LINE = MIB  # characters of a line
MAX_LINES = 2_000_000  # in a file, including blank ones
MAX_FIELD = 131_072  # characters of a field
MAX_ROWS = 100_000  # items of an import
MAX_JSON_DEPTH = outside_json.DEEPEST
MAX_DIGITS = 40  # in an integer in JSON

MAX_KEY = 200  # characters, as in all the following
MAX_TYPE = 60
MAX_CAPTION = 4_000
MAX_CAPTION_BYTES = 16_000
MAX_NAME = 400
MAX_NAME_BYTES = 1_600
MAX_LICENCE = 200
MAX_ATTRIBUTION = 500
MAX_CAPTIONS = 200  # per item, with its texts and the entries of its lists
MAX_IMAGES = 50
MAX_ROLE = records.MAX_ROLE
MAX_ATTRIBUTES = 20  # per caption or image
MAX_ATTRIBUTE = 200  # characters of a value
MAX_VALUES = 100  # per attribute that is a list
