"""JSON from outside ends in a value or in ValueError, and no module reads it without this."""

import pytest

from workers import outside_json


@pytest.mark.parametrize(
    "text",
    ["[" * 10**6, '{"a":' * 10**6, "[" * 65 + "]" * 65, '{"a": ' * 65 + "1" + "}" * 65, "", "[", b"\xff", "9" * 5000],
    ids=range(8),
)
def test_what_cannot_be_read_is_a_value_error(text):
    with pytest.raises(ValueError):
        outside_json.read(text)


def test_what_is_as_deep_as_the_cap_is_read():
    assert outside_json.read('{"a": [1]}') == {"a": [1]}
    assert outside_json.read("[" * outside_json.DEEPEST + "]" * outside_json.DEEPEST)
