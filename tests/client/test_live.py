"""The client against a live server whose worker runs at once: its errors, and a network that breaks everywhere."""

import hashlib
import random
import sys

import httpx
import pandas
import pytest

import winnow_client
from annotation.models import Judgment, Release, Study
from benchmarks.api import views
from benchmarks.api.errors import CannotAnswer
from benchmarks.models import Benchmark, Job, Run
from tests.builders import compared_models, crowds, object_storage
from tests.builders.pipelines import with_originals
from tests.client.cups import cups
from tests.client.faulty_proxy import faulty

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_a_study_is_made_once_for_a_key(server):
    benchmark = server.benchmark(crowds.benchmark(items=2).name)
    assert len({benchmark.study("One", protocol="verify", key="k").id for _ in range(2)}) == 1
    study = server.study("One")
    assert (study.state, study.id) == ("open", server.study(study.id).id)
    study.pause()
    assert study.state == "paused"


def test_predictions_become_a_run(server, tmp_path):
    judged = compared_models.pairs(4)
    (tmp_path / "clip.jsonl").write_text(compared_models.lines(judged, 1))
    found = server.benchmark(judged.name)
    run = found.add_predictions("CLIP", [tmp_path / "clip.jsonl"], source="a repository")
    assert Run.objects.get(pk=run).title == "CLIP" and len(found.items()) == 4


def test_the_problems_of_an_import_name_their_rows(server):
    rows = [{"caption": "A.", "negative_caption": "B."}, {"caption": "A.", "negative_caption": ""}]
    with pytest.raises(winnow_client.JobFailed, match="row 2") as caught:
        server.benchmark("Words", rows)
    assert [problem.row for problem in caught.value.problems] == [2] and caught.value.code
    assert not Benchmark.objects.exists()
    assert server.check("Words", rows[:1])["check_only"] and not Benchmark.objects.exists()


def test_what_cannot_work_is_said_when_connecting(site, token):
    for url, given, kind, says in [
        (site, "wrong", winnow_client.ApiError, "BAD_TOKEN: "),
        (f"{site}/studies", token, winnow_client.WinnowError, "not as Winnow's API does"),
        ("http://127.0.0.1:9", token, winnow_client.Unreachable, "does not answer .* Is Winnow running"),
        ("winnow.example", token, ValueError, "begins with http"),
        (site, "", ValueError, "not a token"),
    ]:
        with pytest.raises(kind, match=says):
            winnow_client.connect(url, given)


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
    with pytest.raises(winnow_client.Unreachable, match="HTTP 429"):
        server.benchmarks()
    assert [pause for pause in pauses if pause >= 2] == [2]
    assert len(server.benchmarks()) == 0


def test_tables_are_dataframes_or_lists(server, monkeypatch):
    study = server.study(crowds.stage(items=6, people=3).study.pk)
    monkeypatch.setattr("winnow_client.transport.PAGE", 4)
    found = study.judgments()
    assert len(found) == Judgment.objects.count() > 4 and set(found["annotator"]) == {"A-01", "A-02", "A-03"}
    assert len(study.judgments(counted=True, annotator="A-01")) < len(found)
    for rows in (study.tasks(), study.annotators(), study.flags(), study.progress(), server.studies()):
        assert isinstance(rows, pandas.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert [row["annotator"] for row in study.annotators()] == ["A-01", "A-02", "A-03"]
