"""What comes out of a study on one page, and the page that everybody with the link reads."""

import csv
import io

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.models import CachedFigures, SharedResults
from annotation.studies import sharing
from benchmarks.accounts import limits
from benchmarks.models import Event, Job
from benchmarks.runs.reported import ReportedRow, enter_reported
from tests.annotation.comparison.test_people_and_models import asked, foils, judge, scored
from tests.builders import declared, predictions, studies

pytestmark = pytest.mark.usefixtures("savepoint", "manager")


@pytest.fixture(scope="module")
def built(module_world):
    """Twelve items with one to decide, judged by three; one model."""
    benchmark = foils()
    study = asked(benchmark, declared.published("image-caption-foil"))
    judge(study.stages.get())
    scored(benchmark, module_world, 9, "=CLIP")
    row = ReportedRow("Vera", "A paper", measures={"overall": 60.8})
    enter_reported(benchmark=benchmark, kind="sugarcrepe", rows=[row], by="test")
    return study


def page(client, study, **asked_for):
    return client.get(reverse("study-results", args=[study.pk]), asked_for)


def link(study) -> str:
    return reverse("shared-results", args=[SharedResults.objects.get(study=study).token])


def test_the_page_reads_its_table(client, built):
    shown = page(client, built)
    assert shown.context["sentences"] == [
        "On average, one person is right on 83.3% of all items, the best model, =CLIP, on 75.0%.",
        "Of the 11 valid ones, it is right on 72.7%.",
        "People have no share of the valid items, because their own answers chose these items.",
    ]
    text = shown.content.decode()
    assert "no share of" in text and "average of 36 answers by 3 annotators" in text
    assert ">n 12<" in text and ">n 11<" in text
    rows = list(csv.DictReader(io.StringIO(page(client, built, csv="people-and-models").content.decode())))
    assert [row["row"] for row in rows] == ["One person on average", "'=CLIP", "Vera"] and rows[0]["valid"] == ""
    assert float(rows[1]["valid"]) == pytest.approx(8 / 11)
    assert float(rows[1]["gap"]) == pytest.approx(30 / 36 - 9 / 12) and rows[1]["gap.n"] == "12"
    ends = [float(rows[1][f"swapped.gap.{end}"]) for end in ("low", "value", "high")]
    assert ends == sorted(ends) and ends[1] == pytest.approx(12 / 18 - 1)
    assert float(rows[1]["gap.low"]) < 0 < float(rows[1]["gap.high"]) and not rows[0]["gap.n"] + rows[2]["gap.n"]


def test_the_report_has_the_same_rows(client, built):
    report = client.get(reverse("study-report", args=[built.pk]))
    (own, said), (other, text) = (
        (str(shown["people_and_models"]).partition("<tbody")[2].partition("</tbody>")[0], shown["sentences"])
        for shown in (page(client, built).context, report.context["models"])
    )
    assert own == other and "=CLIP" in own and said == text
    assert '<section id="people-and-models"' in report.text


@pytest.mark.parametrize(("others", "answered", "said"), [
    (True, 3, ["one person is right on 83.3% of all items, the best model that answered all items, =CLIP, on 75.0%.",
            "Of the 11 valid ones, it is right on 72.7%."]),
    (True, 0, ["one person is right on 83.3% of all items, the best model that answered all items, =CLIP, on 75.0%.",
               "Of the 11 valid ones, it is right on 72.7%."]),
    (False, 3, ["one person is right on 83.3% of all items, the best model, Some, on 100.0% of the 3 items that it "
                "reads apart.", "Of the 3 items decided on, it is right on 100.0%; of the 2 valid ones that it reads "
                "apart (of 11), on 100.0%."]),
])  # fmt: skip
def test_a_model_that_answered_fewer_items_is_ranked_apart(client, built, others, answered, said):
    if not others:
        built.benchmark.runs.all().delete()
    items = built.benchmark.items.order_by("position")[:answered]
    run = predictions.model(built.benchmark, {one: {"caption": "positive"} for one in items}, "Some", "sugarcrepe")
    run.job = Job.objects.create(kind="score", report={"cut": {"in_items": {"count": 11}, "alike": {"count": 9}}})
    run.save()
    shown = page(client, built)
    assert [one.removeprefix("On average, ") for one in shown.context["sentences"][:2]] == said
    assert f"answered {answered} of 12 items{'; ranked apart' * others}<" in shown.content.decode()
    rows = list(csv.DictReader(io.StringIO(page(client, built, csv="people-and-models").content.decode())))
    row = next(one for one in rows if one["row"] == "Some")
    assert (row["cut"], row["read_alike"], row["all.n"]) == ("11", "9", str(answered or ""))


def test_the_plot_names_the_chance_of_a_model_asked_in_both_orders(client, built):
    built.benchmark.runs.update(asked_in_both_orders=True)
    assert "=CLIP (guessing: 25.0%)" in str(page(client, built).context["plot"].rows)


def test_it_says_what_a_release_would_leave_out(client):
    study = studies.study(items=3)
    text = page(client, study).content.decode()
    assert "would leave out 3 undecided items" in " ".join(text.split())
    assert "No results yet." in text


def test_a_link_is_off_until_a_manager_turns_it_on_and_stays_off_once_revoked(client, built):
    assert "Turn on" in page(client, built).content.decode()
    client.post(reverse("study-share", args=[built.pk]), {"to": "on"})
    first = link(built)
    assert f"http://testserver{first}" in page(client, built).content.decode()
    client.logout()
    shown = client.get(first)
    assert shown.status_code == 200 and not shown.cookies
    assert shown["X-Robots-Tag"] == "noindex, nofollow" and "no-store" in shown["Cache-Control"]
    sharing.stop_sharing(study=built, by="test")
    assert client.get(first).status_code == 404
    sharing.share(study=built, by="test")
    assert link(built) != first
    assert list(Event.objects.filter(verb__contains="shar").values_list("verb", flat=True).order_by("pk")) == [
        "shared results", "stopped sharing results", "shared results",
    ]  # fmt: skip


def test_a_wrong_address_leads_nowhere(client):
    assert client.get(reverse("shared-results", args=["nothing"])).status_code == 404


def test_the_shared_page_names_nobody_and_computes_nothing(client, manager, built, django_assert_num_queries):
    sharing.share(study=built, by="test")
    assert "have not been computed yet" in client.get(link(built)).content.decode()
    page(client, built)
    client.logout()
    made_at = CachedFigures.objects.get(kind="results").made_at
    address = link(built)
    with django_assert_num_queries(3):  # the address, the stages, and the figures
        text = client.get(address).content.decode()
    assert CachedFigures.objects.get(kind="results").made_at == made_at
    assert "83.3" in text and "no share of" in text and "=CLIP" in text
    key = built.benchmark.items.first().key
    for secret in ("A-01", f">{manager.username}", built.invite, built.completion_code, key):
        assert secret not in text, secret
    whole = CachedFigures.objects.get(kind="results").data["whole"]
    assert "Where the 12 items are" in text and whole["kept"] == 11
    assert "Dropped" in text and f"/studies/{built.pk}/" not in text


def test_people_of_a_study_that_one_may_not_see_are_left_out(client, built):
    other = asked(built.benchmark, built.stages.get().protocol)
    judge(other.stages.get(), (set(), set(), set()))
    cells = [row["title"] for row in page(client, built).context["people_and_models"].rows]
    assert f"One person in “{other.name}”" in cells
    sharing.share(study=built, by="test")
    assert other.name not in client.get(link(built)).content.decode()


@pytest.mark.parametrize(("wrong", "said"), [
    ([{0, 1}], "People in another study are right on 97.0% of the 11 valid items that they answered"),
    ([{0, 1}, {0, 1, 2}],
     "People in 2 other studies, who did not choose the valid items, are right on 93.9 – 97.0% of those that they "
     "answered (11 items each)."),
])  # fmt: skip
def test_several_other_studies_have_a_range_on_the_valid_items(client, built, wrong, said):
    for items in wrong:
        judge(asked(built.benchmark, built.stages.get().protocol).stages.get(), (items, set(), set()))
    assert page(client, built).context["sentences"][-1].startswith(said)


def test_a_network_looks_a_limited_number_of_times_an_hour(client, built, monkeypatch):
    cache.clear()
    monkeypatch.setattr(limits, "LOOKS", 1)
    sharing.share(study=built, by="test")
    assert [client.get(link(built)).status_code for _ in range(2)] == [200, 429]
