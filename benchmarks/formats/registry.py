"""Every format there is. A new one is a file beside this one and a line here."""

from benchmarks.formats import bivlc_candidates, jsonl, sugarcrepe
from benchmarks.formats.base import Format

FORMATS: dict[str, Format] = {
    format.name: format for format in (bivlc_candidates.FORMAT, sugarcrepe.FORMAT, jsonl.FORMAT)
}
