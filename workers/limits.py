"""Limits on images, videos, archives and parquet. docs/reference/formats.md publishes them; a test compares the two."""

MIB = 2**20

MAX_FILES = 200_000  # entries of an archive, or files in a folder
MAX_ENTRY_BYTES = 64 * MIB  # one file, counted while it is read
MAX_RATIO = 100  # unpacked bytes for each byte of the archive …
FREE_BYTES = 64 * MIB  # … beyond these
MAX_UNPACKED_BYTES = 64 * 1024 * MIB  # total of all files of an archive
MAX_DIRECTORY_BYTES = 64 * MIB  # a zip's list of entries
MAX_TAR_HEADER_BYTES = MIB  # a tar entry's extended header

MAX_PARQUET_BYTES = 16 * 1024 * MIB  # of a file, unpacked: as claimed, then as counted
MAX_PARQUET_MEMORY = 256 * MIB  # memory for reading it
MAX_PARQUET_COLUMNS = 1_000
MAX_PARQUET_FOOTER = 16 * MIB
MAX_PARQUET_SECONDS = 120  # for reading it through …
PARQUET_BYTES_A_SECOND = 4 * MIB  # … and one more per this many bytes of the file

MAX_PIXELS = 24_000_000  # 6000 × 4000; a WebP with alpha of that size takes 420 MiB to decode
MAX_SIDE = 20_000
MAX_AVIF_SECONDS = 60  # to decode one
MAX_VIDEO_SECONDS = 120
MAX_VIDEO_PIXELS = 8_847_360  # in a frame: 4096 × 2160
MAX_VIDEO_DECODING = 180  # seconds to decode one
MAX_VIDEO_MEMORY = 1024 * MIB  # memory for decoding one
MAX_SCANS = 100  # in a JPEG; encoders make about 10, each of which takes up to 20 ms to decode
SERVED_SIDE = 1600
SMALL_SIDE = 800  # for phones, of …
LARGE_SIDE = 1000  # … images served with at least this long side
THUMBNAIL_SIDE = 320
QUALITY = 90
