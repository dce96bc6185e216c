"""People beside models in one table: on all items with an interval that knows annotators, on valid items without a
figure unless it comes from answers that chose nothing.
"""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from annotation.comparison import table
from annotation.comparison.people_and_models import people_and_models
from annotation.designs import presets
from annotation.figures.human_baseline import baselines
from annotation.models import Annotator, Stage, Study
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.screens.read_answer import place_on_screen
from benchmarks.metrics.base import Z, wilson
from benchmarks.models import Benchmark, Item, Job
from tests.annotation.comparison.test_pages import address, ranked
from tests.annotation.dashboard.test_human_baseline_page import answered
from tests.builders import annotators, compared_models, declared, predictions, studies
from tests.independent.clusters import errors

pytestmark = pytest.mark.django_db
CAPTION, FOIL = "caption-positive-0", "caption-negative-0"
# By annotator, the items that they get wrong. Of 12 items, 0 is dropped: two of three pick its foil.
WRONG = ({0, 1, 2}, {0, 3}, {4})


def judge(stage: Stage, wrong: tuple[set[int], ...] = WRONG, people: Sequence[Annotator] = ()) -> list[Annotator]:
    people = list(people) or [studies.annotator(stage.study) for _ in wrong]
    for person, missed in zip(people, wrong, strict=True):
        while leases := annotators.held(person, stage):
            for lease in leases:
                answer = FOIL if lease.task.item.position in missed else CAPTION
                studies.submit(person, lease, place_on_screen(lease, answer))
    return people


def foils(items: int = 12) -> Benchmark:
    made = declared.benchmark(library.shipped("image-caption-foil"), items)
    Item.objects.filter(benchmark=made, position__gte=items // 2).update(type="replace", subtype="obj")
    return made


def asked(benchmark: Benchmark, *names: str) -> Study:
    return studies.study(benchmark=benchmark, stages=presets.stages_in_order([*names]).stages)


def scored(benchmark: Benchmark, folder, right: int, model: str) -> None:
    """A model that is right about the first `right` items."""
    lines = [
        {"item": item.key, "question": "caption", "choice": "positive" if place < right else "negative"}
        for place, item in enumerate(benchmark.items.order_by("position"))
    ]
    file = folder / f"{model}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert compared_models.run(compared_models.queued(benchmark, file, model=model, kind="sugarcrepe")).state == "done"


@pytest.fixture
def foil() -> str:
    return declared.published("image-caption-foil")


def test_people_stand_beside_models_on_all_items_and_have_no_figure_on_the_valid_ones(foil, tmp_path):
    benchmark = foils()
    study = asked(benchmark, foil)
    judge(study.stages.get())
    scored(benchmark, tmp_path, 9, "CLIP")
    scored(benchmark, tmp_path, 12, "SigLIP")
    Job.objects.filter(run__title="CLIP").update(report={"cut": {"in_items": {"count": 3, "keys": ["item-0"]}}})
    found = people_and_models(study)
    assert (found["items"], found["valid"], found["open"], found["parts"]) == (12, 11, 0, ["replaced", "swapped"])
    people, best, other = found["rows"]
    assert (people["title"], people["about"]) == ("One person on average", "average of 36 answers by 3 annotators")
    assert people["all"]["share"] == pytest.approx(30 / 36) and people["all"]["n"] == 12
    assert [of["share"] for of in people["parts"]] == pytest.approx([1, 12 / 18])
    assert people["valid"] is None and people["why"] == {"valid": "their own answers chose these items"}
    assert (best["title"], best["all"]["share"], best["valid"]["share"]) == ("SigLIP", 1, 1)
    assert (other["all"]["share"], other["valid"]["share"], other["valid"]["n"]) == (9 / 12, pytest.approx(8 / 11), 11)
    assert "3 items have captions that are longer than the model reads, so their ends were cut off." in other["notes"]
    assert [of["share"] for of in other["parts"]] == [0.5, 1]


def test_the_interval_of_people_is_that_of_a_second_formula(foil):
    """Wilson's for as many answers as carry the information, with the error of tests/independent, by matrices."""
    study = asked(foils(), foil)
    judge(study.stages.get())
    (people,) = people_and_models(study)["rows"]
    cells = [(item, who) for who in range(3) for item in range(12)]
    right = np.array([item not in WRONG[who] for item, who in cells], dtype=float)
    variance, t = errors((right - right.mean()) / 36, *map(list, zip(*cells, strict=True)))[1]
    effective = 30 / 36 * 6 / 36 / variance * (Z / t) ** 2
    assert effective < 36
    expected = wilson(30 / 36 * effective, effective)
    assert (people["all"]["low"], people["all"]["high"]) == pytest.approx(expected)


def test_a_gap_is_of_each_judgment_less_the_models_verdict_on_its_item(foil, tmp_path):
    """On the items that the model answered, by a second formula: the errors of tests/independent, by matrices."""
    benchmark = foils()
    study = asked(benchmark, foil)
    judge(study.stages.get())
    scored(benchmark, tmp_path, 9, "CLIP")
    people, model = people_and_models(study)["rows"]
    cells = [(item, who) for who in range(3) for item in range(12)]
    gaps = np.array([float(item not in WRONG[who]) - (item < 9) for item, who in cells])
    assert people["gap"] is None
    parts = [
        [gap for gap, (item, _) in zip(gaps, cells, strict=True) if (item < 6) == swaps] for swaps in (False, True)
    ]
    assert [(of["value"], of["n"]) for of in model["part_gaps"]] == [(pytest.approx(np.mean(of)), 6) for of in parts]
    assert (model["gap"]["value"], model["gap"]["n"]) == (pytest.approx(30 / 36 - 9 / 12), 12)
    variance, t = errors((gaps - gaps.mean()) / 36, *map(list, zip(*cells, strict=True)))[1]
    share = (gaps.mean() + 1) / 2
    effective = share * (1 - share) / (variance / 4) * (Z / t) ** 2
    low, high = wilson(share * effective, effective)
    assert (model["gap"]["low"], model["gap"]["high"]) == pytest.approx((2 * low - 1, 2 * high - 1))
    items = [*benchmark.items.order_by("position")]
    said = {item: {"caption": "positive"} for item in items[:4]}
    predictions.model(benchmark, said, kind="sugarcrepe", title="Some")
    predictions.model(benchmark, said, kind="sugarcrepe", title="On what they kept", study=study.pk)
    found = {row["title"]: row["gap"] for row in people_and_models(study)["rows"]}
    assert found["On what they kept"] is None
    assert (found["Some"]["value"], found["Some"]["n"]) == (pytest.approx(-5 / 12), 4)


@pytest.mark.parametrize("same_people", [True, False])
def test_only_people_who_did_not_choose_the_valid_items_have_a_figure_there(foil, same_people):
    """In a later stage that only measures."""
    text = library.text_of("image-caption-foil").replace("name: image-caption-foil", "name: measuring")
    decides = text[text.index("decide:") : text.index("measure:")]
    study = asked(foils(), foil, str(publish(text=text.replace(decides, ""), by="test")))
    first, second = study.stages.order_by("position")
    people = judge(first)
    judge(second, ({11}, set(), set()), people if same_people else ())
    one, two = people_and_models(study)["rows"]
    assert one["valid"] is None and two["all"] is None
    if same_people:
        assert two["valid"] is None and two["why"]["valid"] == "nobody else was asked about these items"
    else:
        assert two["valid"]["share"] == pytest.approx(1 - 1 / 33) and two["valid"]["n"] == 11


def test_people_of_another_study_have_a_figure_on_valid_items(foil):
    benchmark = foils()
    study, other = asked(benchmark, foil), asked(benchmark, foil)
    judge(study.stages.get())
    judge(other.stages.get(), ({0, 1}, set(), set()))
    one, two = people_and_models(study)["rows"]
    assert (one["study"], one["valid"]) == (None, None)
    assert (two["study"], two["title"]) == (other.pk, f"One person in “{other.name}”")
    assert (two["all"]["share"], two["valid"]["share"]) == (pytest.approx(34 / 36), pytest.approx(32 / 33))


def test_a_study_without_a_right_answer_has_models_only(tmp_path):
    benchmark = foils()
    study = asked(benchmark, "verify")
    scored(benchmark, tmp_path, 9, "CLIP")
    found = people_and_models(study)
    assert [(row["title"], row["stands"]) for row in found["rows"]] == [("CLIP", "imported")]
    assert found["valid"] == 0 and found["rows"][0]["valid"] is None


def test_people_who_rank_hard_positives_are_right_one_by_one():
    """Two of eight judgments have both positives above the negative."""
    found = people_and_models(ranked(["113", "132", "132", "311"], ["123", "132", "122", "311"]))
    (people,) = found["rows"]
    assert (people["all"]["share"], people["all"]["n"], found["valid"]) == (0.25, 4, None)


def test_a_baseline_has_the_figures_of_its_own_page():
    study = answered(items=12, people=2, batch_items=6)
    found = people_and_models(study)
    (people,) = found["rows"]
    (own,) = baselines(study)
    group = own["measures"]["group"]
    assert (found["measure"]["name"], people["title"]) == ("group", "People")
    assert (people["all"]["share"], people["all"]["low"]) == (group["share"], group["low"])


def test_people_who_were_asked_about_foils_stand_beside_models_of_the_benchmark(foil, client, manager, tmp_path):
    """By the measure that asks models the same, as in Results: 30 of 36 judgments are right, half the items swapped."""
    benchmark = foils()
    study = asked(benchmark, foil)
    scored(benchmark, tmp_path, 9, "CLIP")
    assert "No results of people yet" in client.get(address(benchmark)).text
    judge(study.stages.get())
    page = client.get(address(benchmark))
    humans, models = page.context["sections"]
    [people], [(_, [(_, [gap, *subsets])])] = humans.rows, page.context["gaps"].sections
    cells = dict(zip((one.name for one in page.context["columns"]), people.cells, strict=True))
    assert (people.entry.title, people.entry.source, people.n) == (study.name, f"study {study.pk}", 12)
    assert cells["overall"].share == pytest.approx(30 / 36) and cells["overall"].low < 30 / 36 < cells["overall"].high
    assert gap.value == pytest.approx(30 / 36 - 9 / 12) and models.title == "Predictions imported"
    assert (cells["swap_att"].share, cells["replace_obj"].share) == pytest.approx((12 / 18, 1))
    assert [one and round(one.value, 2) for one in subsets] == [0.08, 0.5, -0.33]
    whole, mean = cells["overall"], cells["mean_of_subsets"]  # as many judgments each; their difference is no error
    assert mean.share == pytest.approx(30 / 36) and whole.low < mean.low < mean.high < whole.high
    (own, _) = people_and_models(study)["rows"]
    by_type = table.ByType("sugarcrepe", "overall")
    heads = by_type.heads([people.entry], page.context["columns"][0])
    assert {one.name: by_type(people.entry, one)["share"] for one in heads} == pytest.approx(
        {"replace/": 1, "swap/": 12 / 18}
    )
    assert (cells["overall"].low, cells["overall"].high) == (own["all"]["low"], own["all"]["high"])
    study.annotators.update(simulated=True)
    text = client.get(address(benchmark)).text
    assert f"{study.name} (simulated)" in text and ">too few</span>" in text  # some intervals are that wide
    benchmark.items.update(subtype="")
    [[people], _] = (section.rows for section in client.get(address(benchmark)).context["sections"])
    assert [(of["type"], of["subtype"]) for of in people.entry.figures["groups"]] == [("replace", None), ("swap", None)]
