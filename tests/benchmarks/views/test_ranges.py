"""Downloads that are resumed: every range gives the bytes that it names, and a changed file is sent anew."""

import io
import os
import threading
import urllib.request
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory

from benchmarks.views.ranges import PIECE, ranged

pytestmark = pytest.mark.django_db  # closing an answer looks after the connection to the database
BYTES = os.urandom(1000)
ETAG = "0f" * 32
factory = RequestFactory()


def get(method: str = "get", content: bytes = BYTES, offset: int = 0, size: int | None = None, **asked: str):
    """The answer, with the files that were opened for it; `asked` are headers."""
    opened = []

    def open_file():
        opened.append(io.BytesIO(content))
        return opened[-1]

    headers = {name.replace("_", "-"): value for name, value in asked.items()}
    request = getattr(factory, method)("/", headers=headers)
    answer = ranged(request, open_file, len(content) if size is None else size, "släpp 1.0.zip", ETAG, offset)
    answer.opened = opened
    return answer


def body(answer) -> bytes:
    content = b"".join(answer)
    answer.close()
    assert len(content) == int(answer["Content-Length"]) and all(file.closed for file in answer.opened)
    return content


def test_the_whole_says_that_it_can_be_resumed():
    answer = get()
    assert (answer.status_code, answer["Accept-Ranges"], answer["ETag"]) == (200, "bytes", f'"{ETAG}"')
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''sl%C3%A4pp%201.0.zip"
    assert body(answer) == BYTES


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0), ("bytes=10-19", 10, 19), ("bytes=990-", 990, 999), ("bytes=0-", 0, 999),
        ("bytes=-1", 999, 999), ("bytes=-300", 700, 999), ("bytes=-5000", 0, 999), ("bytes=995-5000", 995, 999),
        ("BYTES= 1-2 ", 1, 2),
    ],
)  # fmt: skip
def test_a_range_is_the_bytes_that_it_names(asked, first, last):
    answer = get(Range=asked)
    assert (answer.status_code, answer["Content-Range"]) == (206, f"bytes {first}-{last}/1000")
    assert body(answer) == BYTES[first : last + 1]


@pytest.mark.parametrize("asked", ["bytes=1000-", "bytes=1000-1001", "bytes=-0"])
def test_bytes_that_are_not_there_are_refused(asked):
    answer = get(Range=asked)
    assert (answer.status_code, answer["Content-Range"], answer.opened) == (416, "bytes */1000", [])


@pytest.mark.parametrize(
    "asked",
    ["bytes=0-1,5-6", "bytes=9-3", "bytes=-", "bytes=", "lines=1-2", "bytes=a-b", "bytes=1-2x", "bytes=٣-٤", ""],
)
def test_several_ranges_and_what_is_no_range_give_the_whole(asked):
    answer = get(Range=asked)
    assert (answer.status_code, body(answer)) == (200, BYTES)
    assert "Content-Range" not in answer


def test_a_range_of_a_changed_file_gives_it_anew():
    assert get(Range="bytes=500-", If_Range=f'"{ETAG}"').status_code == 206
    for other in ('"abc"', f'W/"{ETAG}"', "Wed, 21 Oct 2015 07:28:00 GMT"):
        answer = get(Range="bytes=500-", If_Range=other)
        assert (answer.status_code, body(answer)) == (200, BYTES)


def test_what_they_have_is_not_sent_again():
    answer = get(If_None_Match=f'"abc", "{ETAG}"', Range="bytes=0-1")
    assert (answer.status_code, answer["ETag"], answer.opened) == (304, f'"{ETAG}"', [])
    assert get(If_None_Match='"abc"').status_code == 200
    assert get(If_Match='"abc"', Range="bytes=0-1").status_code == 412


def test_head_says_how_long_it_is_and_opens_nothing():
    answer = get("head", Range="bytes=0-1")
    assert (answer.status_code, answer["Content-Length"], answer.opened) == (200, "1000", [])


def test_a_stretch_of_a_file_is_a_file_of_its_own():
    asked = {"offset": 100, "size": 50}
    assert body(get(**asked)) == BYTES[100:150]
    answer = get(Range="bytes=-10", **asked)
    assert (answer["Content-Range"], body(answer)) == ("bytes 40-49/50", BYTES[140:150])
    assert get(Range="bytes=50-", **asked).status_code == 416


def test_an_empty_file_is_whole_whatever_is_asked():
    for asked in ("bytes=0-", "bytes=-5"):
        answer = get(content=b"", Range=asked)
        assert (answer.status_code, body(answer)) == (200, b"")


def test_it_comes_in_pieces_and_the_file_is_closed_when_nobody_reads_on():
    answer = get(content=bytes(3 * PIECE + 1))
    assert len(next(iter(answer))) == PIECE
    answer.close()
    assert answer.opened[0].closed


# Over a socket, by a real client


class Quiet(WSGIRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def serve():
    """`serve(content, etag) -> address` of a server that sends it, as any view of Winnow would."""
    servers = []

    def start(content: bytes, etag: str) -> str:
        def app(environ, start_response):
            answer = ranged(WSGIRequest(environ), lambda: io.BytesIO(content), len(content), "a.zip", etag)
            start_response(f"{answer.status_code} {answer.reason_phrase}", list(answer.items()))
            return answer

        servers.append(make_server("127.0.0.1", 0, app, handler_class=Quiet))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def resume(address: str, part: Path, etag: str) -> int:
    """What `curl -C -` and browsers do: ask for what is missing, and begin anew where that is not what comes."""
    there = part.read_bytes()
    headers = {"Range": f"bytes={len(there)}-", "If-Range": f'"{etag}"'}
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        part.write_bytes((there if answer.status == 206 else b"") + answer.read())
        return answer.status


def test_a_broken_download_is_resumed_to_the_same_bytes(serve, tmp_path):
    content, part = os.urandom(5 * PIECE + 77), tmp_path / "part"
    part.write_bytes(content[: 2 * PIECE + 3])
    assert resume(serve(content, ETAG), part, ETAG) == 206
    assert part.read_bytes() == content


def test_a_download_of_another_content_begins_anew(serve, tmp_path):
    content, part = os.urandom(2 * PIECE), tmp_path / "part"
    part.write_bytes(b"of the former content")
    assert resume(serve(content, "ab" * 32), part, ETAG) == 200
    assert part.read_bytes() == content
