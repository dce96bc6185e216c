"""All formats. To add one, add a file beside this one and a line to this one."""

from benchmarks.formats import (
    aro,
    bivlc_candidates,
    hard_positives,
    jsonl,
    parquet,
    release,
    sugarcrepe,
    sugarcrepe_compare,
    visla,
)
from benchmarks.formats.base import Format
from benchmarks.formats.own import format as own

ALL = (
    own.FORMAT,
    bivlc_candidates.FORMAT,
    sugarcrepe.FORMAT,
    sugarcrepe_compare.FORMAT,
    visla.FORMAT,
    hard_positives.FORMAT,
    aro.FORMAT,
    jsonl.FORMAT,
    *parquet.FORMATS,
    release.FORMAT,
)
FORMATS: dict[str, Format] = {format.name: format for format in ALL}
