"""The tools that releases are written for read them: each by its own command, in an environment of its own."""

import json
import math
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from annotation.releases.plan import FORMS
from annotation.releases.scoring.evaluation import task_name
from annotation.releases.scoring.released import images, models
from annotation.releases.scoring.released.items import Release, captions_of, images_of
from annotation.releases.verification.verifying import verify
from benchmarks.metrics import retrieval
from tests.annotation.releases.test_round_trip import holds, released
from tests.annotation.releases.test_scoring import by_name, scored
from tests.builders import imports
from tests.builders.pictures import draw
from tests.builders.scored_benchmarks import tiny_clip

pytestmark = [pytest.mark.nightly, pytest.mark.django_db(transaction=True)]
ITEMS = 40
WANTED = {
    "clip_benchmark": ["clip_benchmark==1.6.2"],
    "img2dataset": ["img2dataset==1.47.0"],
    "lmms-eval": ["lmms-eval==0.7.3", "filelock<4"],  # of which it changes a private module
}
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "NO_ALBUMENTATIONS_UPDATE": "1",
    "CUDA_VISIBLE_DEVICES": "",
}
# A model of lmms-eval that decides as a model with two encoders does: by the greatest similarity of image and caption.
ANSWERING = """
import re

import open_clip
import torch
from lmms_eval.api.model import lmms


class Contrastive(lmms):
    def __init__(self, pretrained, **kwargs):
        super().__init__()
        self.sight, self.see = open_clip.create_model_from_pretrained(pretrained)
        self.sight, self.read = self.sight.eval(), open_clip.get_tokenizer(pretrained)

    def generate_until(self, requests):
        return [self.answer(*one.args) for one in requests]

    def answer(self, text, settings, to_visual, place, task, split):
        shown = self.sight.encode_image(
            torch.stack([self.see(one) for one in to_visual(self.task_dict[task][split][place])]), normalize=True
        )
        captions = re.findall("^[A-Z][.] (.*)$", text, re.MULTILINE)
        if len(shown) > 1:
            captions = text.split("\\n")[1:2]
        scores = (shown @ self.sight.encode_text(self.read(captions), normalize=True).T).flatten()
        return "AB"[int(scores.argmax())]

    loglikelihood = generate_until_multi_round = None
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Callable[..., Path]:
    """The folder of a harness's commands, in an environment that finds what this one has, such as torch."""
    made: dict[str, Path] = {}

    def of(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            (site,) = folder.glob("lib/python*/site-packages")
            (site / "here.pth").write_text(sysconfig.get_path("purelib"))
            command = [folder / "bin/pip", "install", "--quiet", "--prefer-binary", *WANTED[name]]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
            if done.returncode:
                pytest.skip(f"{WANTED[name][0]} cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
            made[name] = folder / "bin"
        return made[name]

    return of


def run(command: list[object], cwd: Path, **environment: object) -> str:
    own = os.environ | OFFLINE | {name: str(one) for name, one in environment.items()}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=own, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def release(settings, tmp_path, parquet_trial_in_process) -> Path:
    """Items with two images and two captions of three types, each image its own; in two archives."""
    Path(settings.MEDIA_ROOT).mkdir()
    items, files = [], {}
    for number in range(ITEMS):
        names = {role: f"{number}-{role}.jpg" for role in ("positive", "negative")}
        kind = {"type": ("replace", "swap")[number % 2], "subtype": ("att", "obj", "rel")[number % 3]}
        items.append(imports.item(number, images=[{"role": role, "file": one} for role, one in names.items()], **kind))
        files |= {one: draw(2 * number + place, 200, 190) for place, one in enumerate(names.values())}
    study = holds(imports.benchmark_of(tmp_path / "given", items, files, "Cups"))
    made = released(study, tmp_path, forms=FORMS, shard_mb=1)
    assert verify(made).good
    return made


def test_lmms_eval_gives_the_figures_of_the_script_with_standard_errors_by_type(installed, release, tmp_path):
    model = tiny_clip(tmp_path / "model")
    for name, text in {"tasks": "", "models": "AVAILABLE_MODELS = {'contrastive': 'Contrastive'}\n"}.items():
        (tmp_path / "answering" / name).mkdir(parents=True)
        (tmp_path / "answering" / name / "__init__.py").write_text(text)
    (tmp_path / "answering/models/contrastive.py").write_text(ANSWERING)
    task = task_name(json.loads((release / "manifest.json").read_text()), "test")
    command = [installed("lmms-eval") / "lmms-eval", "--include_path", "lmms_eval", "--tasks", task]
    command += ["--model", "contrastive", "--model_args", f"pretrained={model}", "--output_path", tmp_path / "out"]
    home = {"PYTHONPATH": tmp_path, "HF_HOME": tmp_path / "home", "LMMS_EVAL_PLUGINS": "answering"}
    printed = run(command, release, **home)
    (results,) = (tmp_path / "out").rglob("*_results.json")
    found = json.loads(results.read_text())["results"][task]
    expected = scored(release, "--open-clip", model)

    shares = {
        name.partition(",")[0]: one for name, one in found.items() if name.endswith(",none") and "_std" not in name
    }
    assert (shares.pop("tied"), shares.pop("unanswered")) == (0, 0)
    for name in [name for name in shares if "_order/" in name]:  # it answers by scores without ties
        assert shares.pop(name) == shares[name.partition("/")[2]]
    assert len(shares) == 7 * (1 + 2 + 6) and {"group", "group/swap", "group/swap/obj"} < shares.keys()
    for name, share in shares.items():
        one = expected["measures"].get(name) or by_name(expected, name)
        assert share == pytest.approx(one["share"], rel=0, abs=1e-12), name
        error = math.sqrt(one["share"] * (1 - one["share"]) / (one["n"] - 1))
        assert found[f"{name}_stderr_clt,none"] == pytest.approx(error, rel=0, abs=1e-12), name
        assert re.search(rf"\|{re.escape(name)} *\|", printed), printed
    assert 0 < shares["i2t"] < 1


def test_clip_benchmark_gives_winnows_recall(installed, release, tmp_path):
    model = tiny_clip(tmp_path / "model")
    command = [installed("clip_benchmark") / "clip_benchmark", "eval", "--dataset", "wds/retrieval"]
    command += ["--task", "zeroshot_retrieval", "--dataset_root", "webdataset", "--split", "test", "--recall_k", 1, 5]
    command += ["--model", model, "--pretrained", "", "--no_amp", "--num_workers", 0, "--output", tmp_path / "out.json"]
    run(command, release)
    found = json.loads((tmp_path / "out.json").read_text())["metrics"]

    split, own = Release(release), models.OpenClip(model)
    read = images.open_images(split)
    shown = own.embed_images([images.decode(read(images_of(one)["positive", 0])) for one in split.items])
    said = own.embed_texts([captions_of(one)["positive", 0] for one in split.items])
    figures = retrieval.recalls(retrieval.queries(shown @ said.T, range(ITEMS)))
    names = {"text_retrieval": "i2t", "image_retrieval": "t2i"}
    wanted = {f"{name}_recall@{k}": figures[f"{of}_r{k}"].share for name, of in names.items() for k in (1, 5)}
    assert found == {name: float(np.float32(share)) for name, share in wanted.items()}  # as it computes them
    assert 0 < wanted["text_retrieval_recall@5"] < 1


def test_img2dataset_writes_archives_of_the_same_layout(installed, release, tmp_path):
    """Of the release's own images and captions, from their files."""
    rows = [json.loads(line) for line in (release / "imagefolder/test/metadata.jsonl").read_text().splitlines()]
    listed = [
        {"url": (release / "imagefolder/test" / row["image_file_name"]).as_uri(), "caption": row["caption"]}
        for row in rows
    ]
    (tmp_path / "list.jsonl").write_text("".join(json.dumps(one) + "\n" for one in listed))
    command = [
        installed("img2dataset") / "img2dataset",
        "--url_list",
        tmp_path / "list.jsonl",
        "--input_format",
        "jsonl",
    ]
    command += ["--caption_col", "caption", "--output_format", "webdataset", "--output_folder", tmp_path / "out"]
    command += ["--resize_mode", "no", "--skip_reencode", "True", "--processes_count", 1, "--thread_count", 4]
    run(command, tmp_path)
    theirs = [one for path in sorted((tmp_path / "out").glob("*.tar")) for one in texts_and_images(path)]
    ours = [one for path in sorted((release / "webdataset/test").glob("*.tar")) for one in texts_and_images(path)]
    assert sorted(ours) == sorted(theirs) and len(ours) == ITEMS


def texts_and_images(path: Path) -> list[tuple[bytes, bytes]]:
    """(txt, jpg) of each sample, which also has a json."""
    with tarfile.open(path) as archive:
        entries = {entry.name: archive.extractfile(entry).read() for entry in archive}
    keys = {name.partition(".")[0] for name in entries}
    assert keys and all(f"{key}.json" in entries for key in keys)
    return [(entries[f"{key}.txt"], entries[f"{key}.jpg"]) for key in keys]
