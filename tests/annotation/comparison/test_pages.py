"""The page of models beside humans, and how predictions and reported results come to it through the browser."""

import csv
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.designs.plan import StagePlan
from annotation.measures.papers.rank import ROLES
from annotation.models import Study
from annotation.protocols.base import caption_role
from benchmarks.models import Benchmark, Job, Run
from benchmarks.runs import figures as run_figures
from benchmarks.runs import published_tables
from tests.annotation.dashboard.test_human_baseline_page import answered
from tests.builders import compared_models, predictions, ranking_screens, studies, text_items
from tests.builders.columns import sent_by
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db


def address(benchmark: Benchmark) -> str:
    return reverse("benchmark-models", args=[benchmark.pk])


def with_models(folder: Path) -> Study:
    """A human baseline, a model's predictions, the paper's rows."""
    found = answered(items=12, people=2, batch_items=6)
    compared_models.imported(found.benchmark, folder, right=6, model="CLIP")
    compared_models.reported(found.benchmark)
    return found


@pytest.fixture(scope="module")
def compared(module_world) -> Study:
    return with_models(module_world)


@pytest.fixture
def study(compared, savepoint, manager) -> Study:
    return compared


def test_humans_models_and_papers_stand_in_one_table(client, study):
    page = client.get(address(study.benchmark))
    assert [one.title for one in page.context["sections"]] == [
        "People", "Predictions imported", "Reported: generative", "Reported: contrastive",
    ]  # fmt: skip
    [imported] = page.context["sections"][1].rows
    assert [cell.share for cell in imported.cells[:3]] == [1, 0.5, 0.5] and imported.cells[0].n == 12
    assert page.context["people"].title == f"{study.name} (simulated)"
    for shown in ("CLIP TROHN-Img", "BiVLC (Miranda et al. 2024), Tables 3 and 4", ">12</td>", "16.67%", "\\toprule"):
        assert shown in page.text


def test_a_benchmark_without_models_says_how_they_come(client, manager):
    benchmark = studies.benchmark()
    page = client.get(address(benchmark)).text
    assert "No models yet" in page
    for name in ("score-new", "predictions-new", "reported-new"):
        assert f'href="{reverse(name, args=[benchmark.pk])}"' in page


@pytest.mark.parametrize("table", published_tables.TABLES, ids=lambda table: table.name)
def test_each_kind_has_its_page(client, manager, table):
    benchmark = studies.benchmark()
    compared_models.reported(benchmark, table.name)
    page = client.get(address(benchmark), {"order": "best"})
    assert page.context["kind"].name == table.kind
    assert sum(len(section.rows) for section in page.context["sections"]) == len(table.rows)


def test_people_of_studies_that_one_may_not_see_do_not_stand_there(client, study):
    client.force_login(User.objects.create_user("other", is_staff=True))
    page = client.get(address(study.benchmark))
    assert study.name not in page.text
    assert page.context["people"].title == "Human"


def test_the_same_models_on_another_benchmark(client, study):
    other = studies.benchmark()
    compared_models.reported(other, "sugarcrepe")
    page = client.get(address(study.benchmark), {"other": other.pk, "measure": "i2t", "order": "best"})
    found = page.context["correlation"]
    assert (found.n, found.exact) == (9, False)
    assert "Spearman’s ρ between I2T here and All there" in page.text
    assert (ranks := [pair[2] for pair in page.context["pairs"].rows]) == sorted(ranks)


def test_what_takes_long_is_left_to_the_worker(client, study, monkeypatch):
    run = Run.objects.get(origin="imported")
    monkeypatch.setattr(run_figures, "INLINE", 10)
    monkeypatch.setattr(run_figures, "VERSION", "test")
    assert "is computing the results of 1 run" in client.get(address(study.benchmark)).text
    run_figures.compute_missing([run.pk])
    assert "is computing the results" not in client.get(address(study.benchmark)).text


@pytest.mark.parametrize("query", ["measure=x&order=x&kind=x", "kind=sugarcrepe", "other=99999999999999999999"])
def test_what_the_address_asks_wrongly_is_as_usual(client, study, query):
    assert client.get(f"{address(study.benchmark)}?{query}").context["asked"].measure.name == "group"


def two_models(benchmark: Benchmark) -> list[Run]:
    """On twelve items of two types. The first has all right; the second ties three and has another three wrong."""
    items = list(benchmark.items.order_by("position"))
    tied = dict.fromkeys(predictions.bivlc(), 0.5)
    said = [tied] * 3 + [predictions.bivlc(right=False)] * 3 + [predictions.bivlc()] * 6
    first = predictions.model(benchmark, dict.fromkeys(items, predictions.bivlc()), title="=First")
    return [first, predictions.model(benchmark, dict(zip(items, said, strict=True)), title="Second")]


def test_two_models_are_compared_item_by_item(client, study):
    first, second = two_models(study.benchmark)
    asked = {"first": first.pk, "second": second.pk}
    page = client.get(address(study.benchmark), asked)
    row = next(row for row in page.context["paired"] if row.measure == "group")
    assert (row.found.n, row.found.first, row.found.second) == (12, 1, 0.5)
    assert (row.found.only_first, row.found.only_second, row.found.p) == (6, 0, pytest.approx(2 / 2**6))
    assert "+50.0" in page.text and "0.031" in page.text and "has to be right twice" not in page.text
    Run.objects.filter(pk=first.pk).update(asked_in_both_orders=True)
    assert "has to be right twice" in collapsed(client.get(address(study.benchmark), asked).text)
    file = client.get(address(study.benchmark), {**asked, "csv": "paired-models"})
    rows = list(csv.DictReader(file.text.splitlines()))
    [whole] = [one for one in rows if one["measure"] == "group" and not one["type"]]
    assert (whole["first_model"], float(whole["difference"]), whole["test"]) == ("'=First", 0.5, "mcnemar_exact")
    assert {one["measure"] for one in rows if one["type"]} == {one.name for one in page.context["columns"]}


def test_two_models_that_are_not_there_are_not_compared_and_the_two_best_are_offered(client, study):
    best = two_models(study.benchmark)[0].pk
    for query in (f"first={best}&second={best}", "first=x&second=y", "first=0&second=99999999999999999999", ""):
        context = client.get(f"{address(study.benchmark)}?{query}").context
        assert context["chosen"] == [] and context["offered"][0] == best and len(set(context["offered"])) == 2
        assert client.get(f"{address(study.benchmark)}?{query}&csv=paired-models").status_code == 404


def test_what_ties_would_change_elsewhere_stands_below_the_table(client, study):
    two_models(study.benchmark)
    page = client.get(address(study.benchmark))
    tied = (
        "Second: 3 items have tied scores, which count as wrong. If they were right: I2T 75.00, T2I 75.00, Group 75.00"
    )
    assert tied in page.context["markdown"] and f"\n% {tied}" in page.context["latex"]
    assert tied in page.text


# Uploads


def upload(client, benchmark: Benchmark, text: str, name: str = "answers.jsonl", **fields):
    asked = {"model": "CLIP", "source": "a repository", "kind": "bivlc"} | fields
    asked["files"] = SimpleUploadedFile(name, text.encode())
    return client.post(reverse("predictions-new", args=[benchmark.pk]), asked)


@pytest.mark.usefixtures("eager_tasks")
@pytest.mark.parametrize("name", ["predictions", "Ответы (1).txt", "a'b,c.csv", "x.exe"])
def test_an_uploaded_file_may_have_any_name(client, manager, django_capture_on_commit_callbacks, name):
    benchmark = compared_models.pairs(2)
    with django_capture_on_commit_callbacks(execute=True):
        answer = upload(client, benchmark, compared_models.lines(benchmark, 1), name)
    assert "Stored 8 answers from" in client.get(answer.url).text


@pytest.mark.usefixtures("eager_tasks")
def test_columns_of_a_table_are_shown_and_corrected_by_choices(client, manager, django_capture_on_commit_callbacks):
    benchmark = compared_models.pairs(2)
    table = "uid,a,sim_c1_i0,s(c0;i1),s(c1;i1),said\n" + "".join(
        f"{item.key},0.9,0.1,0.2,0.8,Positive\n" for item in benchmark.items.all()
    )
    with django_capture_on_commit_callbacks(execute=True):
        answer = upload(client, benchmark, table, "mine.csv")
    page = client.get(answer.url).text
    assert "Which column is what?" in page and not benchmark.runs.exists()
    job = Job.objects.first()
    chosen = sent_by(page, a="scores.s(c0,i0)", said="choices.i_pos2t")
    assert chosen["what"] == ["item", "scores.s(c0,i0)", "scores.s(c1,i0)", "scores.s(c0,i1)", "scores.s(c1,i1)",
                              "choices.i_pos2t"]  # fmt: skip
    shown = client.post(reverse("import-preview", args=[job.pk]), chosen).text
    assert "<option selected>positive" in shown and "no such item" not in shown and "0.9" in shown
    chosen["what"][-1] = ""
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("predictions-new", args=[benchmark.pk]), chosen)
    assert (Job.objects.first().problems, benchmark.runs.get().predictions.count()) == ([], 8)


@pytest.mark.usefixtures("eager_tasks")
def test_uploaded_predictions_come_to_a_report_of_what_did_not_match(
    client, manager, django_capture_on_commit_callbacks
):
    benchmark = compared_models.pairs(2)
    text = compared_models.lines(benchmark, 1) + '{"item": "gone", "question": "i_pos2t", "choice": "positive"}\n'
    with django_capture_on_commit_callbacks(execute=True):
        answer = upload(client, benchmark, text)
    page = client.get(answer.url).text
    assert "Stored 8 answers from" in page and "no item has this id" in page
    assert benchmark.runs.get().created_by == manager
    with django_capture_on_commit_callbacks(execute=True):
        answer = upload(client, benchmark, text)
    assert "ALREADY_IMPORTED" in client.get(answer.url).text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": ""}, "required"),
        ({"source": ""}, "required"),
        ({"kind": "retrieval"}, "valid choice"),
        ({"model": "a\u202eb"}, "on one line"),
        ({"source": "a\nb"}, "on one line"),
    ],
)
def test_what_makes_no_sense_is_refused_beside_the_field(client, manager, fields, words):
    jobs = Job.objects.count()
    answer = upload(client, compared_models.pairs(1), "", **fields)
    assert answer.status_code == 422 and words in answer.text
    assert Job.objects.count() == jobs


def test_tables_and_files_of_reported_figures(client, manager):
    benchmark = compared_models.pairs(1)
    url = reverse("reported-new", args=[benchmark.pk])
    assert "Tables 2 to 4" in client.get(url).text
    file = SimpleUploadedFile("figures.csv", b"model,measure,value,source\nX,group,12.5,here\n")
    assert client.post(url, {"kind": "bivlc", "file": file}).url == address(benchmark)
    assert client.post(url, {"kind": "bivlc", "tables": ["bivlc"]}).status_code == 302
    again = client.post(url, {"kind": "bivlc", "tables": ["bivlc"]})
    assert again.status_code == 422 and "ALREADY_IMPORTED" in again.text
    assert client.post(url, {"kind": "bivlc"}).status_code == 422
    assert benchmark.runs.filter(origin="reported").count() == 11


def test_a_run_is_deleted_on_its_own_benchmark_alone(client, study):
    run = Run.objects.get(origin="imported")
    assert client.post(reverse("run-delete", args=[studies.benchmark().pk, run.pk])).status_code == 404
    assert client.post(reverse("run-delete", args=[study.benchmark_id, run.pk])).url == address(study.benchmark)
    assert not Run.objects.filter(pk=run.pk).exists()


def test_an_item_that_nobody_judged_does_not_count_as_judged(client, manager):
    study = answered(items=12, people=1, batch_items=6)
    page = client.get(address(study.benchmark))
    [people] = page.context["entries"]
    assert (people.figures["n"], people.figures["measures"]["group"]["n"]) == (6, 6)
    compared_models.reported(study.benchmark)
    assert "These people judged 6 items" in client.get(address(study.benchmark)).text


def ranked(*by_annotator: list[str]) -> Study:
    """A study of Hard Positive Truth in which each annotator has ranked the items in their order: ranks of original,
    hard positive and negative, such as 113."""
    stage = text_items.stage(
        StagePlan(text_items.RANK, settings={"overlap": 2, "strategy": "everyone"}),
        items=len(by_annotator[0]),
        texts=ranking_screens.RANKED,
    )
    benchmark = stage.study.benchmark
    benchmark.items.update(type="replace", subtype="rel")
    benchmark.items.filter(position=0).update(subtype="att")
    for orders in by_annotator:
        person = studies.annotator(stage.study)
        for _ in orders:
            lease = text_items.hold(person, stage)
            steps = dict(zip(ROLES, orders[lease.task.item.position], strict=True))
            fields = {f"step-{place}": steps[caption_role(one)] for place, one in enumerate(lease.shown, 1)}
            text_items.send(person, lease, **fields)
    return stage.study


def test_people_of_hard_positives_have_a_row(client, manager):
    """Four items that both judged, one of them a tie of one of the two; and what the files say of them."""
    study = ranked(["113", "132", "132", "311"], ["123", "132", "122", "311"])
    page = client.get(address(study.benchmark))
    assert page.context["kind"].name == "hard_positive"
    [people] = page.context["entries"]
    assert {name: (of["right"], of["n"]) for name, of in people.figures["measures"].items()} == {
        "original": (3, 4),
        "augmented": (1, 4),
        "brittleness": (1, 4),
    }
    [section] = page.context["sections"]
    assert (section.title, section.rows[0].n) == ("People", 4)
    assert f"{study.name} & 4 & 75.00 & 25.00 & 25.00" in page.context["latex"]
    assert f"| {study.name} | 4 | 75.00 | 25.00 | 25.00 |" in page.context["markdown"]
    means = next(one for one in people.figures["groups"] if one["subtype"] == "mean of subtypes")
    assert means["measures"]["original"]["share"] == pytest.approx((1 + 2 / 3) / 2)


def test_files_of_one_name_are_models_of_their_own(client, manager, settings):
    benchmark, title = compared_models.pairs(2), "ViT-B-32 · epoch_10.pt"
    given = [f"{settings.MODELS.resolve()}/one/epoch_10.pt", "/elsewhere/epoch_10.pt", "/elsewhere/epoch_10.pt"]
    for path in given:
        model = predictions.weights(name="ViT-B-32", pretrained=path, title=title)
        said = {item: predictions.bivlc() for item in benchmark.items.all()}
        predictions.model(benchmark, said, title=title, model=model, origin="measured")
    context = client.get(address(benchmark)).context
    assert [one.source for one in context["entries"]] == ["one/epoch_10.pt", "/elsewhere/epoch_10.pt"]
    assert [one.source for one in context["older"]] == ["/elsewhere/epoch_10.pt"]
