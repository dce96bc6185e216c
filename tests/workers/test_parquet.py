"""Hostile and damaged parquet files end in a code, in a process of their own, in bounded memory."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as lock
import pytest

from tests.builders.parquet_files import bivlc, bivlc_row, stored
from workers import limits, parquet

MIB = 2**20


def refused(path, rows: int = 1000) -> str:
    with pytest.raises(parquet.ParquetRefused) as error:
        parquet.refuse_unsafe(path, rows)
    return error.value.code


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "EMPTY_FILE"),
        (b"<html>", "WRONG_TYPE"),
        (b"PAR1", "FILE_UNREADABLE"),
        (b"PARE1234PARE", "FILE_UNREADABLE"),
    ],
)
def test_what_its_ends_tell(tmp_path, content, code):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    assert refused(path) == code


def test_a_footer_that_claims_a_gigabyte(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(100) + (2**30).to_bytes(4, "little") + b"PAR1")
    assert refused(path) == "FILE_TOO_LARGE"


def test_cut_off_and_then_damaged_inside(tmp_path):
    data = bivlc(tmp_path, bivlc_row(1)).read_bytes()
    path = tmp_path / "data.parquet"
    path.write_bytes(data[:-10])
    assert refused(path) == "FILE_UNREADABLE"
    path.write_bytes(data[:4] + os.urandom(200) + data[204:])
    assert refused(path) == "FILE_UNREADABLE"


class Keys(lock.KmsClient):
    """Keeps keys in the open: only the reader matters here."""

    def __init__(self, config):
        super().__init__()

    def wrap_key(self, key, master):
        return key.hex()

    def unwrap_key(self, key, master):
        return bytes.fromhex(key)


@pytest.mark.parametrize("plain_footer", [True, False])
def test_encrypted(tmp_path, plain_footer):
    how = lock.EncryptionConfiguration(footer_key="f", column_keys={"c": ["caption"]}, plaintext_footer=plain_footer)
    keys = lock.CryptoFactory(Keys).file_encryption_properties(lock.KmsConnectionConfig(), how)
    path, table = tmp_path / "a.parquet", pa.table({"caption": ["A cup."]})
    with pq.ParquetWriter(path, table.schema, encryption_properties=keys) as writer:
        writer.write_table(table)
    assert refused(path) == "FILE_UNREADABLE"


def test_a_small_file_that_takes_much_memory(tmp_path, monkeypatch):
    """A value of 16 MB in 1 KB; the same through a dictionary that a thousand rows point into."""
    monkeypatch.setattr(limits, "MAX_PARQUET_MEMORY", 32 * MIB)
    assert refused(stored(tmp_path, pa.table({"a": ["x" * (16 * MIB)]}), compression="zstd")) == "FILE_TOO_LARGE"
    assert (tmp_path / "data.parquet").stat().st_size < MIB / 50
    many = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), ["x" * (MIB // 4)])})
    assert refused(stored(tmp_path, many, store_schema=False)) == "FILE_TOO_LARGE"


def test_a_billion_rows_by_what_it_says(tmp_path):
    path = stored(tmp_path, pa.table({"a": pa.array([None] * 2000, pa.string())}))
    assert refused(path, rows=1999) == "TOO_MANY_ROWS"


def test_bytes_that_are_counted_whatever_it_says(tmp_path, monkeypatch):
    """A dictionary's value counts each time that it is used."""
    many = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), ["x" * 9000])})
    path = stored(tmp_path, many, store_schema=False)
    monkeypatch.setattr(limits, "MAX_PARQUET_BYTES", MIB)
    most = {"rows": 1000, "columns": 10, "bytes": MIB}
    assert parquet.exceeded_by_metadata(pq.read_metadata(path), most) == []
    assert refused(path) == "FILE_TOO_LARGE"


def test_very_many_columns(tmp_path):
    path = stored(tmp_path, pa.table({str(number): [1] for number in range(limits.MAX_PARQUET_COLUMNS + 1)}))
    assert refused(path) == "SCHEMA"


def test_a_process_that_dies_is_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(parquet, "TRIAL", ("-c", dies))
    assert refused(bivlc(tmp_path / "given", bivlc_row(1))) == "FILE_UNREADABLE"


def test_a_process_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "TRIAL", ("-c", "while True: pass"))
    monkeypatch.setattr(limits, "MAX_PARQUET_SECONDS", 0.2)
    assert refused(bivlc(tmp_path / "given", bivlc_row(1))) == "FILE_UNREADABLE"


def test_a_good_file_is_accepted_by_the_child_process(tmp_path, monkeypatch):
    """Given by a relative name too, whatever folder Winnow runs in."""
    bivlc(tmp_path / "given", bivlc_row(1))
    monkeypatch.chdir(tmp_path)
    (path,) = (tmp_path / "given").rglob("*.parquet")
    parquet.refuse_unsafe(path.relative_to(tmp_path), 1000)
