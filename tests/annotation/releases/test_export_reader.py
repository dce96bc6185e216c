"""An export is read a row at a time: what was read is not kept."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from annotation.exports.files import IMAGE, ParquetFile, split_schema

READ = """
import sys
from pathlib import Path
import annotation.releases.{module} as reader
now = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
path = Path(sys.argv[1])
before, most = now(), 0
for batch in {batches}:
    batch.to_pylist()
    most = max(most, now())
print(most - before)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("export") / "data.parquet"
    file = ParquetFile(path, split_schema([("id", pa.string()), ("image", IMAGE)]))
    for number in range(1000):
        content = os.urandom(100_000)  # does not get smaller, as images do not
        file.add({"id": str(number), "image": {"bytes": content, "path": "a.jpg"}}, len(content))
    file.close()
    return path


@pytest.mark.parametrize(
    ("module", "batches"),
    [
        ("archive_reader", "reader.Files(path.parent).batches(path.name, 16)"),
        ("verification.place", "reader.streamed(path).iter_batches(16, use_threads=False)"),
    ],
)
def test_a_file_of_images_is_read_in_little_memory(table, module, batches):
    command = [sys.executable, "-c", READ.format(module=module, batches=batches), str(table)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 90  # MB; pyarrow alone would keep the 100 that the file holds
