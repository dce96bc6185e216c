"""The score.py and the task for lmms-eval that a release brings give the figures that Winnow gives."""

import ast
import contextlib
import importlib.util
import io
import json
import random
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import PIL.Image
import pytest
import yaml
from django.core.management import call_command

from annotation.releases.build import MANIFEST
from annotation.releases.scoring import evaluation
from annotation.releases.scoring.released import answers, command, images, models
from annotation.releases.scoring.released.items import Release, wanted_of
from annotation.releases.scoring.released.rows import rows_of
from annotation.releases.verification.verifying import verify
from benchmarks.metrics import aro, sugarcrepe
from benchmarks.predictions import stored
from benchmarks.predictions.item_figures import figures_of as figures_of_items
from benchmarks.predictions.kinds import KINDS, RETRIEVAL, Kind
from benchmarks.runs import figures as run_figures
from tests.annotation.releases.released import change_json, mend
from tests.builders import compared_models
from workers.images import pixels_of

STUDIES = ("stages", "written")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
OF_KINDS = [kind for kind in KINDS.values() if kind is not RETRIEVAL]
# Vectors from bytes: no library but numpy, and nothing of Winnow or Django in the process.
FUNCTIONS = """
import hashlib, sys
import numpy as np

BYTES = True

def embed_images(images):
    assert not {"django", "annotation", "benchmarks"} & set(sys.modules)
    return [[digest - 127.5 for digest in hashlib.sha256(one).digest()] for one in images]

def embed_texts(texts):
    return embed_images([text.encode() for text in texts])
"""
HERE = FUNCTIONS.replace("    assert not", "    not")  # in this process
NOTHING = '{"item": "item-0", "question": "caption", "choice": "none"}'
PAIRS = """
import zlib

BYTES = True

def score(images, captions):
    return [zlib.crc32(image + caption.encode()) % 3 for image, caption in zip(images, captions)]
"""


def scored_alone(folder: Path, *given: object) -> dict:
    """By score.py in a process of its own, without this environment's paths."""
    command = [sys.executable, "-I", str(folder / "score.py"), "--json", *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scored(folder: Path, *given: object) -> dict:
    """By the folder's score.py in this process: another takes a third of a second to start."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        loaded(folder / "score.py").main(["--json", *map(str, given)])
    return json.loads(printed.getvalue())


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def utils_of(folder: Path) -> ModuleType:
    return loaded(folder / "lmms_eval" / "utils.py")


def same(found: Mapping, expected: Mapping) -> int:
    """How many figures with something in them are the same, to 1e-9."""
    count = 0
    for name, one in found.items():
        if name not in expected:  # a subset without items
            assert one["n"] == 0
            continue
        for key in ("share", "low", "high", "n", "chance"):
            wanted = expected[name][key]
            assert one[key] == wanted if wanted is None else one[key] == pytest.approx(wanted, rel=0, abs=1e-9), name
        count += one["n"] > 0
    return count


def part(groups: list[dict], one: Mapping) -> Mapping:
    """The measures of the same type and subtype."""
    return next(of["measures"] for of in groups if (of["type"], of["subtype"]) == (one["type"], one["subtype"]))


# By hand: a manifest and items, without images


def types(kind: Kind) -> list[tuple[str, str]]:
    if kind.name == "sugarcrepe":
        return [tuple(name.split("_")) for name in sugarcrepe.SUBSETS[:5]]
    if kind.name == "aro":
        relations = [(aro.RELATION, name) for name in ("behind", "under", "riding", "unheard of")]
        return [*relations, (aro.ATTRIBUTION, "black vs white"), (aro.ORDER, "coco"), (aro.ORDER, "flickr30k")]
    return [("replace", "att"), ("replace", "rel"), ("swap", "att")]


def item(number: int, kind: str, subtype: str) -> dict:
    negatives = [f"a negative {'x' * place} {number}" for place in range(4 if kind == aro.ORDER else 1)]
    texts = [("positive", f"a caption {number}"), ("second_positive", f"another {'caption' * (number % 3)} {number}")]
    captions = [*texts, *(("negative", text) for text in negatives)]
    captions = [one for one in captions if kind != aro.ORDER or one[0] != "second_positive"]
    return {
        "id": f"item-{number}", "type": kind, "subtype": subtype, "split": "test", "negative_image": "candidate-0",
        "captions": [{"role": role, "text": text} for role, text in captions],
        "images": [{"key": key, "sha256": f"{number:x}{key}"} for key in ("positive-0", "candidate-0", "candidate-1")],
    }  # fmt: skip


def by_hand(folder: Path, kind: Kind) -> list[dict]:
    items = [item(number, *types(kind)[number % len(types(kind))]) for number in range(30)]
    settings = {
        "evaluation": evaluation.evaluation_of(kind.name, items),
        "splits": {"test": {}},
        "release": {"name": "Cups", "version": "1.0"},
        "columns": {"image": "image:positive", "negative_image": "image:negative"},
    }
    (folder / MANIFEST).write_text(json.dumps(settings))
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in items))
    evaluation.write(folder, settings)
    return items


def random_scores(release, seed: int) -> Iterator[tuple[int, str, int]]:
    """Of few values, so that there are ties."""
    drawn = random.Random(seed)
    for place, one in enumerate(release.items):
        for name in wanted_of(release, one):
            yield place, name, drawn.randint(0, 3)


def figures_of(items: list[dict], scores: list[tuple[int, str, int]], kind: Kind) -> dict:
    """As Winnow computes them for a run."""
    columns = {}
    for name in {name for _, name, _ in scores}:
        own = [(place, score) for place, one, score in scores if one == name]
        columns[name] = stored.Column([place for place, _ in own], [score for _, score in own], [None] * len(own))
    captions = [{one["role"]: one["text"] for one in reversed(item["captions"])} for item in items]
    named = {place: (item["type"], item["subtype"]) for place, item in enumerate(items)}
    given = columns, named, kind, dict(enumerate(captions))
    found, generous = stored.records(*given), stored.records(*given, ties_are_right=True)
    return {**stored.summarize(found, kind), "ties": stored.ties(found, generous, kind)}


def answers_of(utils: ModuleType, release, scores: list[tuple[int, str, int]]) -> Iterator[dict]:
    """What a generative model answers that decides by these scores, and among the best of them for the first letter."""
    found = {(place, name): score for place, name, score in scores}
    for place, one in enumerate(release.items):
        for name, given, sides in utils.prompts.questions(release.kind, one):
            assert utils.prompts.shown_of_kind(given, sides, 1).options
            pairs, options = release.kind.measured.questions[name], release.kind.questions[name].options
            compared = [pairs[0][0], *(other for _, other in pairs)]
            for order in (0, 1):
                turn = slice(None, None, -1 if order else 1)
                of_options = [found[place, option] for option in compared][turn]
                doc = {
                    "winnow_split": release.split, "winnow_item": one["id"],
                    "winnow_type": one["type"], "winnow_subtype": one["subtype"],
                    "winnow_question": name, "winnow_order": order, "winnow_options": options[turn],
                }  # fmt: skip
                yield utils.process_results(doc, [f"{'ABCDE'[of_options.index(max(of_options))]}."])


def aggregated(utils: ModuleType, results: Iterable[dict]) -> tuple[dict[str, float], dict[str, list[float]]]:
    """As the harness does it: the figure of each metric, and the scores of which it computes a standard error."""
    found = defaultdict(list)
    for one in results:
        for name, answer in one.items():
            found[name].append(answer)
    shares = {name: utils.aggregate(answers) for name, answers in found.items()}
    return shares, {name: [one["score"] for one in of if "score" in one] for name, of in found.items()}


def by_name(found: Mapping, name: str) -> Mapping:
    """The figure of a row by type and subtype, as score.py has it."""
    measure, type, *subtype = name.split("/")
    return part(found["groups"], {"type": type, "subtype": subtype[0] if subtype else None})[measure]


def by_type_of(kind: Kind, type: str, subtype: str | None, measure: str) -> str:
    """The name of the row; some are figures of the benchmark anyway."""
    figures = {
        (one.measure, one.type, one.subtype): name for name, one in figures_of_items(kind).items() if not one.mean
    }
    return figures.get((measure, type, subtype or "")) or "/".join(filter(None, (measure, type, subtype)))


@pytest.mark.parametrize("kind", OF_KINDS, ids=lambda kind: kind.name)
def test_winnow_the_script_and_the_harness_have_the_same_figures(tmp_path, kind):
    items = by_hand(tmp_path, kind)
    utils = utils_of(tmp_path)
    release = Release(tmp_path)
    scores = list(random_scores(release, 7))
    expected = figures_of(items, scores, kind)
    lines = [json.dumps({"item": items[place]["id"], "question": name, "score": one}) for place, name, one in scores]
    (tmp_path / "scores.jsonl").write_text("\n".join(lines))
    found = scored(tmp_path, "--predictions", tmp_path / "scores.jsonl")
    assert found["n"] == expected["n"] == 30
    assert found["ties"]["items"] == expected["ties"]["items"] > 0
    assert found["ties"]["measures"] == pytest.approx(expected["ties"]["measures"], abs=1e-9)
    assert same(found["measures"], expected["measures"]) >= len(kind.measured.measures)
    for one in expected["groups"]:
        own = part(found["groups"], one)
        if kind.name == "aro":  # there a group's only figure has the name of its type
            own = {one["type"]: own[aro.ORDER if one["type"] == aro.ORDER else "caption"]}
        assert same({name: own[name] for name in one["measures"]}, one["measures"]) > 0

    shares, scores = aggregated(utils, answers_of(utils, release, scores))
    assert 0 < shares.pop("tied") < 1 and shares.pop("unanswered") == 0
    in_one_order = {name: shares.pop(name) for name in [*shares] if "_order/" in name}
    whole = [name for name, one in figures_of_items(kind).items() if name in shares and not one.type]
    assert in_one_order.keys() == {f"{order}/{name}" for order in ("first_order", "second_order") for name in whole}
    for name, share in in_one_order.items():
        order, _, measure = name.partition("/")
        one = expected["measures"][measure]["share"]  # of equal scores it names the first, which is right in the first
        if measure != "brittleness":
            generous = expected["ties"]["measures"].get(measure, one)
            assert share == pytest.approx(generous if order == "first_order" else one, abs=1e-12), name
    for name, share in shares.items():
        one = expected["measures"].get(name) or by_name(found, name)
        assert share == pytest.approx(one["share"], abs=1e-12), name
        assert statistics.fmean(scores[name]) == pytest.approx(share, abs=1e-12), name
        if "right" in one:  # not of a mean of groups, whose scores may be above 1
            assert sorted(scores[name]) == pytest.approx([0] * (one["n"] - one["right"]) + [1] * one["right"]), name
    asked = [name for name, one in kind.measured.measures.items() if kind.asks(one)]
    rows = [
        (one["type"], one["subtype"], name) for one in found["groups"] for name in asked if one["measures"][name]["n"]
    ]
    rows = [one for one in rows if one[1] != "mean of subtypes"]
    assert {by_type_of(kind, *one) for one in rows} <= shares.keys()


def test_chance_is_that_of_choices_in_both_orders_and_a_tie_is_not_brittle(tmp_path):
    items = by_hand(tmp_path, KINDS["hard_positive"])
    said = ({"original": "c", "hard_positive": one} for one in ("cn", "none", "cp"))
    tied = {"s(c)": 2, "s(cp)": 1, "s(cn)": 1}
    lines = [
        {"item": item["id"], "question": name, "choice" if name in ("original", "hard_positive") else "score": value}
        for item, answers in zip(items, [*said, tied], strict=False)
        for name, value in answers.items()
    ]
    (tmp_path / "scores.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given = "--predictions", tmp_path / "scores.jsonl", "--skip-incomplete", "--asked-in-both-orders"
    found = scored(tmp_path, *given)
    of_type = part(found["groups"], {"type": "replace", "subtype": None})
    assert found["measures"]["original"]["chance"] == of_type["original"]["chance"] == 1 / 4
    assert found["measures"]["brittleness"]["share"] == 1 / 4


@pytest.mark.parametrize(("flags", "chance"), [((), 1 / 2), (("--asked-in-both-orders",), 1 / 4)])
def test_the_script_and_an_import_give_choices_the_same_chance(tmp_path, flags, chance):
    benchmark, kind = compared_models.pairs(4), KINDS["bivlc"]
    run = compared_models.imported(benchmark, tmp_path, right=2, asked_in_both_orders=bool(flags))
    imported = run_figures.of_runs([run]).figures[run.pk]["measures"]
    lines = [{"item": item["id"], "question": name} for item in by_hand(tmp_path, kind) for name in kind.questions]
    (tmp_path / "choices.jsonl").write_text("\n".join(json.dumps(one | {"choice": "right"}) for one in lines))
    found = scored(tmp_path, "--predictions", tmp_path / "choices.jsonl", *flags)["measures"]
    assert {name: one["chance"] for name, one in found.items()} == {
        name: one["chance"] for name, one in imported.items()
    }
    assert found["i_pos2t"]["chance"] == chance


def test_one_name_of_a_subset_has_one_row():
    items = [{"type": "add_att", "subtype": ""}, {"type": "", "subtype": "add_obj"}, {"type": "swap", "subtype": "obj"}]
    found = rows_of({"kind": "sugarcrepe"}, items)
    assert [name for name in found if "/" in name] == ["accuracy/swap"] and "add_att" in found
    of_script = answers.figures([sugarcrepe.Answered(True, **one) for one in items], KINDS["sugarcrepe"])
    assert {name: of_script["measures"][name]["n"] for name in ("add_att", "add_obj", "overall")} == {
        "add_att": 1, "add_obj": 1, "overall": 3,
    }  # fmt: skip
    assert [(one["type"], one["subtype"]) for one in of_script["groups"]] == [("swap", None), ("swap", "obj")]


def test_what_a_model_reads_alike_is_counted_in_the_figures_that_leave_it_out(tmp_path):
    """Marks in a file of predictions stand for it, and the script writes the file with them again: of captions that are
    cut, of a subset without scores, and of a model that gives none."""
    items = by_hand(tmp_path, KINDS["sugarcrepe"])
    alike = [one["id"] for one in items if (one["type"], one["subtype"]) == types(KINDS["sugarcrepe"])[0]]
    lines = [
        {"item": one["id"], "question": name, "score": 0.5}
        for one in items
        if one["id"] not in alike
        for name in ("s(positive)", "s(negative)")
    ]
    lines[0]["cut"] = True
    lines += [{"item": one, "read_alike": True, "cut": True} for one in alike]
    (tmp_path / "scores.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = scored(tmp_path, "--predictions", tmp_path / "scores.jsonl", "--out", tmp_path / "again.jsonl")
    counts = {
        name: (one["n"], one["read_alike"])
        for name, one in found["measures"].items()
        if any((one["n"], one["read_alike"]))
    }
    assert counts.pop("overall") == counts.pop("mean_of_subsets") == (24, 6)
    assert counts == {"add_att": (0, 6), **dict.fromkeys(sugarcrepe.SUBSETS[1:5], (6, 0))}
    whole = {of["type"]: of["measures"]["accuracy"]["read_alike"] for of in found["groups"] if of["subtype"] is None}
    parts = [of["measures"]["accuracy"]["read_alike"] for of in found["groups"] if of["subtype"]]
    assert (whole, parts) == ({"add": 6, "replace": 0}, [6, 0, 0, 0, 0])
    assert found["cut"]["alike"] == {"count": 6, "keys": alike} and found["cut"]["in_items"]["count"] == 7
    assert scored(tmp_path, "--predictions", tmp_path / "again.jsonl") == found
    assert any(one.split() == ["add_att", "50.00", "0", "6"] for one in command.table(found))

    marks = [json.dumps({"item": one["id"], "read_alike": True}) for one in items]
    (tmp_path / "scores.jsonl").write_text("\n".join(marks))
    written = [*command.table(scored(tmp_path, "--predictions", tmp_path / "scores.jsonl"))]
    assert written[1].split() == ["overall", "50.00", "0", "30"] and "No item is scored (n = 0)." in written


@pytest.fixture(scope="module")
def utils(tmp_path_factory) -> ModuleType:
    folder = tmp_path_factory.mktemp("harness")
    by_hand(folder, KINDS["sugarcrepe"])
    return utils_of(folder)


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("A", "one"), ("b.", "two"), ("(B)", "two"), ("**A**", "one"), ("Answer: B", "two"),
        ("The answer is A.", "one"), ("B. A red cup.", "two"), ("Option A", "one"), ("A red cup.", None),
        ("C", None), ("", None),
        ("I cannot see an image.", None), ("A or B", None),
    ],
)  # fmt: skip
def test_an_answer_is_a_letter(utils, said, option):
    assert utils.read_choice(said, ["one", "two"]) == option


def test_refusals_count_as_wrong_and_are_reported_apart(tmp_path):
    by_hand(tmp_path, KINDS["sugarcrepe"])
    utils = utils_of(tmp_path)
    release, docs = Release(tmp_path), []
    for place, said in enumerate(("AB", "AA", "A?", "BA")):  # right, tied, half refused, wrong
        for order, letter in enumerate(said):
            options = ["positive", "negative"][:: -1 if order else 1]
            doc = {"winnow_type": "swap", "winnow_subtype": "obj", "winnow_question": "caption", "winnow_order": order}
            doc["winnow_split"] = "test"
            named = {"winnow_item": release.items[place]["id"], "winnow_options": options}
            docs.append(utils.process_results({**doc, **named}, [letter]))
    found, _ = aggregated(utils, docs)
    assert (found["overall"], found["tied"], found["unanswered"]) == (1 / 4, 1 / 4, 1 / 8)
    assert (found["first_order/overall"], found["second_order/overall"]) == (3 / 4, 1 / 4)


# On releases


@pytest.mark.parametrize(
    "without", [(), ("imagefolder",), ("imagefolder", "webdataset")], ids=["files", "tar", "parquet"]
)
def test_the_script_scores_a_release_with_functions_of_the_users_own(released, tmp_path, capsys, without):
    """The first time in a process of its own."""
    folder, model, score = released("stages"), tmp_path / "model.py", scored if without else scored_alone
    model.write_text(HERE if without else FUNCTIONS)
    for form in without:
        (folder / form).rename(tmp_path / form)
    found = score(folder, "--functions", model, "--out", tmp_path / "scores.jsonl")
    assert found["kind"] == "bivlc" and found["measures"]["group"]["n"] == found["n"] > 0
    assert not list(folder.rglob("__pycache__")) or without
    call_command("evaluate", "bivlc", predictions=[tmp_path / "scores.jsonl"], json=True)
    inside = json.loads(capsys.readouterr().out)["figures"]
    for name, one in found["measures"].items():
        assert one["share"] * 100 == pytest.approx(inside[name]["percent"], abs=1e-9)
        assert one["low"] * 100 == pytest.approx(inside[name]["low"], abs=1e-9)


def test_the_script_shows_a_model_no_damaged_image(released, tmp_path):
    folder, model = released("stages"), tmp_path / "model.py"
    model.write_text(HERE)
    for path in (folder / "imagefolder/test/images").iterdir():
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.raises(SystemExit, match=r"is damaged\. Copy the release again\."):
        scored(folder, "--functions", model)


def test_the_script_scores_pairs_or_texts_alone(released, tmp_path):
    folder = released("written")
    for name, text in {"pairs": PAIRS, "texts": HERE.replace("embed_images", "_vectors")}.items():
        (tmp_path / f"{name}.py").write_text(text)
        found = scored(folder, "--functions", tmp_path / f"{name}.py")
        assert found["kind"] == "visla"
        assert {name for name, one in found["measures"].items() if one["n"]} == (
            {"i2t", "p1_n", "p2_n"} if name == "pairs" else {"t2t", "t2t_p1_n", "t2t_p2_n"}
        )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([NOTHING.replace("item-0", "x")], "line 1: the split test has no item 'x'"),
        ([NOTHING.replace("none", "blue")], "line 1: no score or option"),
        ([NOTHING, NOTHING], "line 2: caption of item-0 is answered twice"),
        (["[]"], "line 1: not a JSON object"),
        (["[" * 100_000], "line 1: not a JSON object"),
        (['{"item": "item-0", "question": "s(positive)", "score": 1e999}'], "line 1: no score or option"),
        ([NOTHING.replace("}", ', "score": 1e999}')], "line 1: no score or option"),
        ([NOTHING], "29 of 30 items lack answers: item-1, item-2"),
        ([NOTHING], "item-10 and 19 more. A model"),
        ([NOTHING, '{"item": "item-0", "read_alike": true}'], "answered, and marked as read_alike: item-0."),
    ],
)
def test_the_script_says_what_is_wrong_with_predictions(tmp_path, lines, said):
    by_hand(tmp_path, KINDS["sugarcrepe"])
    (tmp_path / "scores.jsonl").write_text("\n".join(lines))
    with pytest.raises(SystemExit) as stopped:
        scored(tmp_path, "--predictions", tmp_path / "scores.jsonl")
    assert stopped.value.code.startswith("score.py: ") and said in stopped.value.code


@pytest.mark.parametrize("text", ["[" * 100_000, "{"])
def test_the_script_says_which_files_of_a_release_it_cannot_read(tmp_path, text):
    by_hand(tmp_path, KINDS["sugarcrepe"])
    (tmp_path / "items.jsonl").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        scored(tmp_path, "--predictions", tmp_path / "items.jsonl")
    assert "has no readable manifest.json and items.jsonl" in stopped.value.code


def test_the_harness_finds_a_document_for_each_question_and_order(released):
    datasets = pytest.importorskip("datasets")
    folder = released("stages")
    utils = utils_of(folder)
    split = next(iter(json.loads((folder / MANIFEST).read_text())["splits"]))
    tag = "!function"
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor(tag, lambda loader, node: getattr(utils, loader.construct_scalar(node).partition(".")[2]))
    task = yaml.load((folder / "lmms_eval" / f"{split}.yaml").read_text(), loader)
    files = {split: str(folder / task["dataset_kwargs"]["data_files"][split])}
    data = datasets.load_dataset(task["dataset_path"], data_files=files)[split]
    docs = task["process_docs"](data)
    assert len(docs) == 8 * len(data)
    first, fifth = docs[0], docs[4]
    assert (first["winnow_question"], len(task["doc_to_visual"](first))) == ("i_pos2t", 1)
    assert (fifth["winnow_question"], len(task["doc_to_visual"](fifth))) == ("t_pos2i", 2)
    assert data[0]["caption"] in task["doc_to_text"](first) and data[0]["negative_caption"] in task["doc_to_text"](
        first
    )
    shares, _ = aggregated(utils, (task["process_results"](doc, [doc[task["doc_to_target"]]]) for doc in docs))
    assert {metric["aggregation"] for metric in task["metric_list"]} == {utils.aggregate}
    higher = {metric["metric"]: metric["higher_is_better"] for metric in task["metric_list"]}
    assert {name: share == 1 for name, share in shares.items()} == higher


def test_the_script_is_part_of_what_is_verified(released):
    folder = released("stages")
    (folder / "score.py").unlink()
    (folder / "scoring" / "base.py").unlink()
    (folder / "lmms_eval" / "own.py").write_text("")
    (folder / "scoring" / "own.py").write_text("")
    mend(folder)
    problems = "\n".join(verify(folder).problems)
    for said in ("manifest.json: it does not name score.py", "manifest.json: it does not name scoring/base.py"):
        assert said in problems
    assert all(f"{name}/own.py: it does not belong to any" in problems for name in ("lmms_eval", "scoring"))
    change_json(folder / MANIFEST, lambda found: found.update(evaluation=None))
    mend(folder)
    assert "lmms_eval/utils.py: it does not belong to any format" in "\n".join(verify(folder).problems)


def test_what_the_script_is_made_of_needs_only_the_standard_library_and_numpy(tmp_path):
    """Other libraries are those of the model and of the images' form, imported when they are used."""
    by_hand(tmp_path, KINDS["visla"])
    modules = {path.stem for path in (tmp_path / "scoring").iterdir()}
    for path in [tmp_path / "score.py", *(tmp_path / "scoring").iterdir(), tmp_path / "lmms_eval" / "utils.py"]:
        tree = ast.parse(path.read_text(), feature_version=(3, 10))
        for one in ast.walk(tree):
            if isinstance(one, ast.ImportFrom) and one.level:
                names = [one.module] if one.module else [alias.name for alias in one.names]
                assert one.level == 1 and {*names} <= modules, path.name
            elif isinstance(one, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in one.names] if isinstance(one, ast.Import) else [one.module]
                assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names | {"numpy"}, path.name


def test_two_releases_in_one_process_compute_with_their_own_modules(tmp_path):
    chances = {"one": 0.5, "other": 0.25}
    for name, chance in chances.items():
        (tmp_path / name).mkdir()
        by_hand(tmp_path / name, KINDS["sugarcrepe"])
        module = tmp_path / name / "scoring" / "sugarcrepe.py"
        module.write_text(module.read_text().replace("CHANCE = 1 / 2", f"CHANCE = {chance}"))
    scripts = {name: loaded(tmp_path / name / "score.py") for name in chances}
    assert {name: script.load("sugarcrepe").CHANCE for name, script in scripts.items()} == chances


def picture(mode: str, colour, **saved) -> bytes:
    made = io.BytesIO()
    image = PIL.Image.new(mode, (8, 4), colour)
    image.putpixel((1, 2), 0 if isinstance(colour, int) else tuple(reversed(colour)))
    image.save(made, **saved)
    return made.getvalue()


def turned(orientation: int) -> bytes:
    exif = PIL.Image.Exif()
    exif[0x0112] = orientation
    return picture("RGB", (200, 30, 60), format="PNG", exif=exif)


@pytest.mark.parametrize(
    "content",
    [
        picture("RGB", (200, 30, 60), format="PNG"), picture("RGBA", (200, 30, 60, 90), format="PNG"),
        picture("LA", (200, 90), format="PNG"), picture("I;16", 40_000, format="PNG"),
        picture("P", 5, format="PNG", transparency=5), *map(turned, range(2, 9)),
        picture("I;16", 317, format="PNG"), picture("RGBA", (255, 255, 255, 90), format="PNG"),
        picture("LA", (250, 90), format="PNG"), picture("RGB", (200, 30, 60), format="AVIF", quality=100),
        picture("RGB", (200, 30, 60), format="JPEG", xmp=b'<x tiff:Orientation="6"/>'),
        picture("RGB", (200, 30, 60), format="PNG", icc_profile=bytes(2**21)),
    ],
)  # fmt: skip
def test_models_see_the_same_pixels_as_in_winnow(content):
    assert images.decode(content).tobytes() == pixels_of(content).tobytes()


def test_vectors_of_half_precision_neither_overflow_nor_tie():
    rows = np.random.default_rng(0).normal(0, 30, (2, 768)).astype(np.float16)
    vectors = models.vectors_of(["a", "b"], lambda batch: rows, 2)
    assert vectors["a"].dtype == np.float32 and vectors["a"] @ vectors["a"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("images", "negatives", "fits"), [(("positive-0",), 1, True), (("scene-0",), 1, False), (("positive-0",), 3, False)]
)
def test_what_does_not_fit_the_items_is_not_there(images, negatives, fits):
    captions = [("positive", "a cup"), *(("negative", f"{number} cups") for number in range(negatives))]
    line = {
        "captions": [{"role": role, "text": text} for role, text in captions],
        "images": [{"key": key} for key in images],
        "negative_image": None,
    }
    assert bool(evaluation.evaluation_of("sugarcrepe", [line])) is fits
