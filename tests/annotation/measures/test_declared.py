"""Agreement on a declared protocol's answers, on the scale of each, against independent libraries."""

import itertools

import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from annotation.measures.declared import agreement
from annotation.measures.rank_agreement import tau_b
from tests.annotation.protocols.files import changed, problems, read

RNG = np.random.default_rng(3)
ITEMS, PEOPLE = 60, 3
RANKED = ["captions.positive", "captions.negative"]


def protocol(*answers: dict, **measure: dict):
    data = changed(("decide", []), ("answers", list(answers)), ("measure", measure))
    assert problems(data) == []
    return read(data)


def value(found: dict, key: str) -> float:
    return found["measures"][key]["value"]


def rows(labels: np.ndarray) -> list[tuple]:
    """Of an items × people table of labels; empty ones are left out."""
    return [(f"i{i}", f"p{p}", label) for (i, p), label in np.ndenumerate(labels) if label]


def test_a_scale_is_ordinal_and_who_cannot_judge_has_no_part_in_it():
    points = RNG.integers(1, 6, (ITEMS, 1)).clip(1, 5)
    said = (points + RNG.integers(-1, 2, (ITEMS, PEOPLE))).clip(1, 5)
    labels = said.astype(str).astype(object)
    labels[0, 0], labels[1, 1], labels[2, 2] = "cannot_judge", "not_applicable", ""
    of = protocol({"name": "fit", "kind": "scale", "points": 5, "not_applicable": "No"})
    found = agreement(of, rows(labels))["fit"]
    values = np.where(np.isin(labels, list("12345")), said, np.nan).astype(float)
    expected = krippendorff.alpha(values.T, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
    assert found["level"] == "ordinal" and value(found, "alpha_ordinal") == pytest.approx(expected, abs=1e-9)
    kappas = []
    for one, other in itertools.combinations(values.T, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        weighted = cohen_kappa_score(
            one[both].astype(int), other[both].astype(int), weights="quadratic", labels=[1, 2, 3, 4, 5]
        )
        kappas.append(weighted)
    assert value(found, "weighted_cohen_mean") == pytest.approx(np.mean(kappas), abs=1e-9)


def test_the_file_may_say_interval_with_uneven_steps():
    labels = np.array(["0", "0.1", "1"], dtype=object)[RNG.integers(0, 3, (ITEMS, PEOPLE))]
    of = protocol({"name": "fit", "kind": "scale", "points": [0, 0.1, 1]}, fit={"agreement": "interval"})
    expected = krippendorff.alpha(labels.astype(float).T, level_of_measurement="interval")
    assert value(agreement(of, rows(labels))["fit"], "alpha_interval") == pytest.approx(expected, abs=1e-9)


def test_each_answer_each_view_and_a_statement_have_figures_of_their_own():
    check = {"name": "ok", "ask": "?", "kind": "check", "statements": {"same": "S", "reads": "R"}}
    pick = {"name": "fit", "ask": "?", "kind": "pick", "of": RANKED, "fixed": {"both": "Both"}}
    of = protocol(pick, check, fit={"views": {"valid": {"positive": "valid", "else": "not"}}}, **{"ok.same": {}})
    labels = np.array(["positive/yes,no", "both/no,no", "negative/yes,yes"], dtype=object)[
        RNG.integers(0, 3, (ITEMS, 2))
    ]
    found = agreement(of, rows(labels))

    def alpha(project) -> float:
        codes = np.vectorize(project)(labels)
        return krippendorff.alpha(
            np.unique(codes, return_inverse=True)[1].reshape(codes.shape).T.astype(float),
            level_of_measurement="nominal",
        )

    assert value(found["fit"], "alpha_nominal") == pytest.approx(alpha(lambda label: label.split("/")[0]), abs=1e-9)
    valid = alpha(lambda label: label.startswith("positive"))
    assert value(found["fit"]["views"]["valid"], "alpha_nominal") == pytest.approx(valid, abs=1e-9)
    assert value(found["ok.same"], "alpha_nominal") == pytest.approx(alpha(lambda label: "yes," in label), abs=1e-9)


def test_rankings_agree_by_kendalls_tau_b():
    pairs = [(RNG.integers(1, 4, 6), RNG.integers(1, 4, 6)) for _ in range(200)]
    for one, other in pairs:
        ours = tau_b(one.tolist(), other.tolist())
        theirs = pytest.approx(kendalltau(one, other).statistic, abs=1e-9, nan_ok=True)
        assert (np.nan if ours is None else ours) == theirs
    assert tau_b([1, 1], [1, 2]) is None
    of = protocol({"name": "order", "kind": "rank", "of": RANKED})
    said = [("i", "p", "positive>negative"), ("i", "q", "positive>negative"), ("i", "r", "positive=negative")]
    found = agreement(of, [*said, ("j", "p", "positive>negative")])["order"]["measures"]["tau_b"]
    assert (found["value"], found["n"], found["left_out"]) == (1, 1, 2)
    labels = np.array(
        [["positive>negative", "negative>positive"], ["positive>negative", "positive>negative"]], dtype=object
    )
    found = agreement(of, rows(labels))["order"]
    assert (found["level"], found["n_items"]) == ("rank", 2)
    assert (value(found, "tau_b"), found["measures"]["tau_b"]["n"]) == (0, 2)


def test_texts_have_no_agreement():
    assert agreement(protocol({"name": "said", "kind": "text"}), [("i", "p", "written")]) == {}


MARKED = [
    [["1000:1000", "1200:1000,9000:9000", "none"], ["none", "none", "none"]],
    [["0:0:100:100", "50:0:150:100", "0:0:100:60"], ["none", "none", "0:0:1:1"]],
]


@pytest.mark.parametrize(
    ("kind", "labels", "first", "second"),
    [("points", MARKED[0], [2 / 3, 0, 0], [1, 1, 1]), ("boxes", MARKED[1], [1 / 3, 0.6, 3 / 13], [1, 0, 0])],
)
def test_marks_on_a_picture_agree_by_where_they_are(kind, labels, first, second):
    answer = {"name": "spots", "kind": kind, "of": "scene", "least": 0}
    found = agreement(protocol(answer), rows(np.array(labels, dtype=object)))["spots"]
    chief = "point_f1" if kind == "points" else "box_iou"
    assert (found["level"], found["measures"][chief]["n"]) == (kind, 6)
    assert value(found, chief) == pytest.approx(np.mean([*first, *second]))
    assert value(found, f"{chief}_mean") == pytest.approx(np.mean([*first, *second]))
    low, high = (found["measures"][chief][end] for end in ("low", "high"))
    assert 0 <= low < value(found, chief) < high <= 1
