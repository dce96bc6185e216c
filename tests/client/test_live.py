"""The client against a live server whose worker runs at once: its errors, and a network that breaks everywhere."""

import asyncio
import hashlib
import pickle
import random
import signal
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

import winnow_client
from annotation.models import Judgment, Release, Study
from annotation.releases import schema
from benchmarks.api import views
from benchmarks.api.errors import CannotAnswer
from benchmarks.models import Benchmark, Correction, Job, Run
from tests.builders import compared_models, crowds, imports, object_storage
from tests.builders.pipelines import with_originals
from tests.client.cups import cups
from tests.client.faulty_proxy import faulty
from winnow_client import threads
from winnow_client.transport import Transport

pytestmark = pytest.mark.django_db(transaction=True)


def finished(work: Coroutine) -> Any:
    """In a thread of its own: a browser that another test left open has a loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def test_nothing_is_doubled_when_every_answer_is_lost_once(site, eager_tasks, token, tmp_path):
    """Each POST first gets no answer, each upload and each file break off in the middle, each GET first gets 503."""
    with faulty(site) as proxy:
        server = proxy.connected(token)
        benchmark = server.benchmark("Cups", cups(tmp_path / "pictures"), images=tmp_path / "pictures")
        study = benchmark.study(protocol="verify", stages={"verify": {"overlap": 1}})
        with_originals(crowds.work(Study.objects.get(), people=2, undone=0).study)
        release = study.freeze("cups@1.0", forms=["jsonl"], key="cups")
        assert study.freeze("cups@1.0", forms=["jsonl"], key="cups").id == release.id
        archive = release.download(tmp_path / "cups.zip")
        export = study.export(tmp_path / "export.zip")
    assert len(proxy.lost) == 6 and len(proxy.cut) == 4
    assert proxy.fetched == archive.stat().st_size + export.stat().st_size, "the rest, and not all of it again"
    made = (Benchmark, Study, Release, Job)
    assert [table.objects.count() for table in made] == [1, 1, 1, 3]
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == Release.objects.get().sha256
    assert export.stat().st_size == Job.objects.get(kind="export").report["bytes"]
    assert not list(tmp_path.glob("*.part"))


def test_an_upload_continues_where_it_was_cut(site, token, tmp_path, monkeypatch):
    content = random.Random(1).randbytes(5_000_000)
    path = tmp_path / "images.zip"
    path.write_bytes(content)
    with faulty(site) as proxy:
        id = proxy.connected(token)._transport.upload(path)
        again = proxy.connected(token)._transport.upload(path)
        assert again == id, "what has arrived is not sent again, even by another process"
    assert proxy.sent == len(content)
    assert (tmp_path / f"uploads/{id}/content").read_bytes() == content


def test_an_upload_shows_its_progress(site, token, tmp_path, capsys):
    (tmp_path / "images.zip").write_bytes(b"zip")
    winnow_client.connect(site, token)._transport.upload(tmp_path / "images.zip")
    assert "Uploading images.zip:" in capsys.readouterr().err


def test_the_token_does_not_go_with_a_redirect_to_the_bucket(bucket, settings, server, tmp_path, monkeypatch):
    storage = object_storage.server().url
    settings.STORAGES = object_storage.storages(storage, bucket, downloads=storage)
    release = server.study(with_originals(crowds.stage(items=4, people=2).study).pk).freeze("cups@1.0", forms=[])
    sent = []
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", _noting(sent))
    release.download(tmp_path / "cups.zip")
    assert sent == [(server.url, True), (storage, False)]


def _noting(sent: list[tuple[str, bool]]):
    """Note to whom each request goes, and whether it has a token."""
    handle = httpx.HTTPTransport.handle_request

    def handle_request(transport, request):
        sent.append((f"{request.url.scheme}://{request.url.netloc.decode()}", "Authorization" in request.headers))
        return handle(transport, request)

    return handle_request


def test_a_study_is_made_once_unless_it_differs(server):
    benchmark = server.benchmark(crowds.benchmark(items=2).name)
    asked = {"protocol": "verify", "pay_per_hour": 12, "stages": {1: {"overlap": 2}}}
    study = benchmark.study("One", **asked)
    assert benchmark.study("One", **asked) == study == server.study("One") == server.study(study.id)
    with pytest.raises(winnow_client.ApiError, match=r"pay_per_hour is 12\.00 in the study, not 13") as caught:
        benchmark.study("One", **asked | {"pay_per_hour": 13})
    assert caught.value.code == "EXISTS_OTHERWISE"
    with pytest.raises(winnow_client.ApiError) as caught:
        benchmark.study("One", existing="refuse", **asked)
    assert caught.value.code == "NAME_TAKEN"
    assert study.state == "open" and "studies/" in study._repr_html_()
    for _ in range(2):
        study.pause()
        assert study.state == "paused"
    with pytest.raises(winnow_client.WinnowError, match="no stage choose"):
        study.close_stage("choose")
    assert [study.close_stage("verify", leave_open=True) for _ in range(2)] == [{}, {}]
    assert study.change(stages={"verify": {"quota": 9}})["stages"]["verify"]["quota"] == 9
    assert study.agreement("verify")["view"] == "answer"
    for _ in range(2):
        study.open_stage(1)
    assert study.progress()[0]["state"] == "open" and len(study.tasks(stage="verify")) == 2
    assert pickle.loads(pickle.dumps(study)).state == "paused"


def test_an_import_can_be_made_again(server, tmp_path, monkeypatch):
    """The same rows give the same benchmark and are not sent again; others are added, corrected or refused."""
    folder = tmp_path / "pictures"
    rows = cups(folder)
    benchmark = server.benchmark("Cups", rows, images=folder)
    sent: list[str] = []
    upload = Transport.upload
    monkeypatch.setattr(Transport, "upload", lambda self, path: sent.append(path.name) or upload(self, path))
    assert server.benchmark("Cups", rows, images=folder) == benchmark and sent == ["items.jsonl"]
    assert len(server.benchmark("Cups", cups(folder, 5), images=folder).items()) == 5

    (folder / "0-b.jpg").write_bytes(imports.jpeg(99))
    changed = [{**rows[0], "caption": "A green cup."}, *rows[1:]]
    for existing, code in (("refuse", "DUPLICATE_ID"), ("skip", "DUPLICATE_ID")):
        with pytest.raises(winnow_client.JobFailed) as caught:
            server.benchmark("Cups", changed, images=folder, existing=existing)
        assert code in {problem.code for problem in caught.value.problems}
    with pytest.raises(winnow_client.JobFailed, match="another picture"):
        server.benchmark("Cups", rows, images=folder)
    for _ in range(2):
        server.benchmark("Cups", changed, images=folder, existing="update")
    (item,) = benchmark.items(key="0")
    assert {one["text"] for one in item["captions"]} == {"A green cup.", "A blue cup, 0."}
    assert Correction.objects.count() == 2


def test_rows_with_a_mapping_are_read_by_the_server(server, tmp_path):
    cups(tmp_path, 2)
    mapping = {"winnow": "mapping/1", "id": "key", "texts": {"positive": "right"}, "images": {"positive": "{key}.jpg"}}
    rows = [{"key": "0", "right": "A."}, {"key": "1", "right": "B."}]
    checked = server.check("Own", rows, images=tmp_path, mapping=mapping)
    assert checked.columns == {"key": "id, image in the role positive", "right": "text in the role positive"}
    assert len(repr(checked)) < 300
    benchmark = server.benchmark("Own", rows, images=tmp_path, mapping=mapping, text_only=False)
    assert [item["captions"][0]["text"] for item in benchmark.items()] == ["A.", "B."]
    assert server.benchmark("Own", rows, images=tmp_path, mapping=mapping) == benchmark


def test_work_goes_on_while_nobody_waits(site, token, monkeypatch):
    """Without a worker: a handle shows how far it is, waiting ends in time or by Ctrl-C, and cancelling works."""
    server = winnow_client.connect(site, token, progress=False)
    rows = [{"caption": "A.", "negative_caption": "B."}]
    job = server.benchmark("Words", rows, wait=False)
    assert (job.progress().state, job) == ("queued", server.job(job.id))
    with pytest.raises(winnow_client.StillRunning, match=r"server\.job"):
        job.result(timeout=0.1)
    with monkeypatch.context() as patch:
        patch.setattr("winnow_client.transport.time.sleep", lambda seconds: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt) as caught:
            job.result()
    assert "continues on the server" in caught.value.__notes__[0]
    job.cancel()
    with pytest.raises(winnow_client.JobFailed, match="was cancelled"):
        job.result()


def test_the_asynchronous_client_does_the_same(site, eager_tasks, token, tmp_path):
    rows = cups(tmp_path / "pictures")

    async def work() -> tuple[str, int]:
        async with await winnow_client.connect_async(site, token, progress=False) as server:
            job = await server.benchmark("Cups", rows, images=tmp_path / "pictures", wait=False)
            benchmark = await job.result()
            study = await benchmark.study("One", protocol="verify")
            assert isinstance(study, winnow_client.AsyncStudy) and study == await server.study("One")
            states = await asyncio.gather(study.state, study.progress(), server.studies())
            return states[0], len(await benchmark.items())

    assert finished(work()) == ("open", 4)
    for name in ("judgments", "freeze", "close_stage"):
        assert getattr(winnow_client.AsyncStudy, name).__doc__ == getattr(winnow_client.Study, name).__doc__


def test_a_cancelled_call_ends_at_its_next_pause(site, token):
    """Of a job without a worker."""

    async def work() -> None:
        server = await winnow_client.connect_async(site, token, progress=False)
        job = await server.benchmark("Words", [{"caption": "A.", "negative_caption": "B."}], wait=False)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(job.result(), 0.3)
        ended = asyncio.create_task(asyncio.to_thread(_all_idle))
        assert await asyncio.wait_for(ended, 10)

    finished(work())


def _all_idle() -> bool:
    while threads.POOL._idle_semaphore._value < len(threads.POOL._threads):
        time.sleep(0.02)
    return True


def test_predictions_become_a_run(server, tmp_path):
    judged = compared_models.pairs(4)
    (tmp_path / "clip.jsonl").write_text(compared_models.lines(judged, 1))
    found = server.benchmark(judged.name)
    run, again = (found.add_predictions("CLIP", [tmp_path / "clip.jsonl"], source="a repository") for _ in range(2))
    assert run == again
    with pytest.raises(winnow_client.ApiError, match="another run"):
        found.paired(run, run)
    assert found.study("One", protocol="verify").results()["rows"]
    assert [row["id"] for row in server.rows(f"benchmarks/{found.id}/runs/?limit=1")] == [run]
    assert server.rows("benchmarks/?name=none") == [] and server.get("benchmarks/?name=none")["results"] == []
    assert Run.objects.get(pk=run).title == "CLIP" and len(found.items()) == 4


def test_the_problems_of_an_import_name_their_rows(server):
    rows = [{"caption": "A.", "negative_caption": "B."}, {"caption": "A.", "negative_caption": ""}]
    with pytest.raises(winnow_client.JobFailed, match="row 2") as caught:
        server.benchmark("Words", rows)
    assert [(problem.file, problem.row) for problem in caught.value.problems] == [("", 2)] and caught.value.code
    assert not Benchmark.objects.exists()
    found = server.check("Words", rows[:1])
    assert found.columns["negative_caption"] == "caption in the role negative" and found.new
    assert not Benchmark.objects.exists()


def test_what_cannot_work_is_said_when_connecting(site, token):
    for url, given, kind, says in [
        (site, "wrong", winnow_client.ApiError, "BAD_TOKEN: "),
        (f"{site}/studies", token, winnow_client.WinnowError, "not as Winnow's API does"),
        ("http://winnow.invalid", token, winnow_client.Unreachable, "does not respond .* Is Winnow running"),
        ("winnow.example", token, ValueError, "begins with http"),
        (site, "", ValueError, "not a token"),
    ]:
        with pytest.raises(kind, match=says):
            winnow_client.connect(url, given)
    server = winnow_client.connect(f"{site}/api/v1/", token)
    assert server.url == site and server.version == schema.WINNOW
    with pytest.raises(winnow_client.Unreachable, match=r"refused.* Is Winnow running"):
        winnow_client.connect("http://127.0.0.1:9", token, patience=0.2)


def test_a_refusal_has_code_field_and_remedy(server):
    with pytest.raises(winnow_client.ApiError) as caught:
        server.post("studies/", {"name": "A", "benchmark": 1, "preset": "bivlc", "colour": 1})
    problem = caught.value.problems[0]
    assert (caught.value.status, caught.value.code, problem.field) == (400, "INVALID", "colour")
    for call in (lambda: server.benchmark("none"), lambda: server.study("none"), lambda: server.study(9)):
        with pytest.raises(winnow_client.ApiError) as caught:
            call()
        assert caught.value.status == 404


def test_it_waits_as_long_as_the_server_says(server, monkeypatch):
    """Retry-After of 429: no attempt comes earlier, and none comes when there is no time for it."""
    waits, pauses = [2, 200], []
    answer = views.BenchmarkList.get

    def busy(view, request, *args, **kwargs):
        if waits:
            raise CannotAnswer(429, "THROTTLED", "Too many requests.", wait=waits.pop(0))
        return answer(view, request, *args, **kwargs)

    monkeypatch.setattr(views.BenchmarkList, "get", busy)
    monkeypatch.setattr("winnow_client.transport.time.sleep", pauses.append)
    with pytest.raises(winnow_client.Unreachable, match="HTTP 429, THROTTLED: Too many requests"):
        server.benchmarks()
    assert [pause for pause in pauses if pause >= 2] == [2]
    assert len(server.benchmarks()) == 0


def test_connecting_waits_for_a_server_that_restarts():
    answers = [httpx.ConnectError("refused"), httpx.Response(502), httpx.Response(200, json={"results": []})]

    def answer(request: httpx.Request) -> httpx.Response:
        if isinstance(one := answers.pop(0), Exception):
            raise one
        return one

    winnow_client.connect("http://winnow.example", "t", http=httpx.Client(transport=httpx.MockTransport(answer)))
    assert not answers


def test_a_busy_server_is_asked_again_and_its_reason_told():
    """Through a client of one's own, and already when connecting."""
    refusal = {"code": "STORAGE_UNAVAILABLE", "detail": "The files are away.", "errors": []}
    answers = [httpx.Response(503, json=refusal, headers={"Retry-After": "0"}) for _ in range(2)]
    answers.append(httpx.Response(200, json={"results": [], "next": None}))
    http = httpx.Client(transport=httpx.MockTransport(lambda request: answers.pop(0)))
    assert winnow_client.connect("http://winnow.example", "t", http=http).url == "http://winnow.example"
    answers += [httpx.Response(503, json=refusal, headers={"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})]
    with pytest.raises(winnow_client.Unreachable, match="HTTP 503, STORAGE_UNAVAILABLE: The files are away") as caught:
        winnow_client.connect("http://winnow.example", "t", http=http)
    assert "Is Winnow running" not in str(caught.value)


def test_tables_have_their_columns_and_times_even_without_a_row(server, monkeypatch):
    study = server.study(crowds.stage(items=6, people=3).study.pk)
    monkeypatch.setattr("winnow_client.transport.PAGE", 4)
    found = study.judgments()
    assert len(found) == Judgment.objects.count() > 4 and {row["annotator"] for row in found} == {
        "A-01",
        "A-02",
        "A-03",
    }
    assert len(study.judgments(counted=True, annotator="A-01")) < len(found)
    frame = found.to_pandas()
    assert str(frame["created_at"].dtype).startswith("datetime64") and found[0]["created_at"].tzinfo
    for rows in (study.tasks(), study.annotators(), study.flags(), study.progress(), server.studies()):
        assert [*rows.to_pandas().columns] == rows.columns and pickle.loads(pickle.dumps(rows)) == rows
    none = study.judgments(annotator="A-01", since=datetime.now(UTC) + timedelta(days=1))
    assert len(none) == 0 and [*none.to_pandas().dtypes] and none.to_pandas()["created_at"].dt.year.empty
    assert "A-01" in study.annotators()._repr_html_()
