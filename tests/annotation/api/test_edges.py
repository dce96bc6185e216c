"""Whatever is asked, the API answers in JSON, in a way that its description names: no HTML, no fault of its own."""

from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from tests.annotation.api.reading import refused
from tests.builders import crowds

pytestmark = pytest.mark.usefixtures("savepoint")


def cursor(words: str) -> str:
    return b64encode(words.encode()).decode()


IDS = ("0", "01", "9" * 19, "9" * 30, "9" * 5000, "-1", "1_0", "A-00", "..", "1%2F1", "%00", "%D9%A1", "%FF")
BAD_CURSORS = (
    "0", "[]", "TRUE", "=", "cD0x\n", "é", cursor("p="), cursor("p=-1"), cursor("p=1&p=2"), cursor("p=1&q=2"),
    cursor("p=" + "9" * 19), cursor("p=abc"), cursor("p=١"), cursor("p=1\0"), cursor("o=-1"), cursor("r=x"),
    cursor("o=" + "9" * 20), cursor("o=5r=1"), cursor("r=1p=5"), cursor("&p=5"),
)  # fmt: skip
CURSORS = (*BAD_CURSORS, "cD0x=", cursor("r=1"), cursor("p=" + "9" * 18), cursor("p=0&r=1"), cursor("o=5"))
VALUES = (
    "", " ", "-1", "01", "9" * 19, "9" * 1001, "1.0", "١", "null", "{}", "🐈", b"\xff", b"\xed\xa0\x80", "a" * 20_000,
    "A-00", "A-٠١", "A-99999999", "\0", "0000-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
)  # fmt: skip
NAMES = ("", "colour", "stage[]", "a" * 5000)
HEADERS = [{"accept": "text/html"}, {"accept": ""}, {"authorization": "Bearer"}, {"authorization": "Bearer é"}]


@pytest.fixture(scope="module")
def study(module_world) -> Study:
    return crowds.stage(items=4, people=2, overlap=2).study


def read_paths(client) -> dict:
    paths = client.get(reverse("api-schema")).json()["paths"]
    return {path: of for path, of in paths.items() if "get" in of}


def hostile(paths: dict, study: Study, step: int) -> Iterator[tuple[str, str, dict]]:
    """(the described path, an address, headers): a filter of a name once with all values; of ids, names and headers
    each `step`th, the next path beginning with the next one."""
    filters = {}
    for number, (path, of) in enumerate(paths.items()):
        ids, names, headers = (values[number % step :: step] for values in (IDS, NAMES, HEADERS))
        own = {"id": str(study.benchmark_id if "benchmarks" in path else study.pk), "position": "1"}
        own |= {"name": "README.md", "job": "1", "run": "1", "task": "1", "opaque": "0" * 32}
        url = path.format_map(own)
        yield from ((path, path.format_map({**own, name: one}), {}) for name in own if name in path for one in ids)
        yield from ((path, f"{url}?{quote(name)}=1", {}) for name in names)
        yield from ((path, url, one) for one in headers)
        filters |= {one["name"]: (path, url) for one in of["get"].get("parameters", ()) if one["in"] == "query"}
    for name, (path, url) in filters.items():
        yield from ((path, f"{url}?{name}={quote(one)}", {}) for one in (CURSORS if name == "cursor" else VALUES))


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.nightly)])
def test_every_answer_is_json_and_described(client, manager, study, step):
    client.raise_request_exception, stranger, strange = False, Client(raise_request_exception=False), []
    paths = read_paths(client)
    asked = list(hostile(paths, study, step))
    for path, url, headers in asked:
        answer = (stranger if "authorization" in headers else client).get(url, headers=headers)
        described = str(answer.status_code) in paths[path]["get"]["responses"]
        json = answer["Content-Type"] == "application/json"
        if not json or not described or not well_formed(answer.status_code, answer.json()):
            strange.append((url[:200], headers, answer.status_code, answer.content[:200]))
    assert strange == [] and len(asked) > 250


def well_formed(status: int, body: dict) -> bool:
    """As the description says of the status."""
    if status == 400 and not all(one["code"].isupper() and one["remedy"] for one in body["errors"]):
        return False
    return status == 200 or list(body) == ["code", "detail", "errors"]


@pytest.mark.parametrize("given", BAD_CURSORS)
def test_a_malformed_cursor_is_refused(client, manager, study, given):
    """The library took some of these for the first page, which a script that follows pages would read for ever."""
    assert "not a valid cursor" in refused(client, "api-task-list", study.pk, "cursor", cursor=given)


@pytest.mark.parametrize("number", ["1_0", "1.0", "+1", "١", "1e0", "0x1"])
@pytest.mark.parametrize("name", ["limit", "stage"])
def test_a_number_is_written_in_digits(client, manager, study, name, number):
    assert "valid integer" in refused(client, "api-task-list", study.pk, name, **{name: number})


@pytest.mark.parametrize("name", ["api-study-list", "api-import-new"])
@pytest.mark.parametrize("method", ["options", "put", "delete"])
def test_other_methods_are_refused(client, manager, name, method):
    answer = getattr(client, method)(reverse(name))
    assert (answer.status_code, answer.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert not {"OPTIONS", "PUT"} & set(answer["Allow"].split(", "))
