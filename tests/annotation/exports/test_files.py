"""Objects of JSON are indented by a faster library, and have the bytes that `json.dumps` gives."""

import json

from hypothesis import given
from hypothesis import strategies as st

from annotation.exports.files import write_json

FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e16, 1e-5, 9.9e-05, -1e-7, 0.0001, -0.0])
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_they_are_as_json_writes_them(tmp_path_factory, row):
    path = tmp_path_factory.mktemp("files") / "row.json"
    write_json(path, row)
    assert path.read_bytes() == json.dumps(row, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"
