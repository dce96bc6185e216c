#!/usr/bin/env python3
"""Score a model on this release, and print the measures of its benchmark with 95 % intervals.

    python score.py --functions my_model.py
    python score.py --open-clip ViT-B-32-quickgelu:openai
    python score.py --transformers google/siglip2-base-patch16-224
    python score.py --predictions scores.jsonl

It needs Python 3.10 or later, numpy and the model's own library; pyarrow too if the release has its images in `data/`
alone. my_model.py defines `embed_images(images)` and `embed_texts(texts)`, which return an array with a vector for each
and are compared by cosine; or `score(images, captions)`, which returns a number for each pair, higher is better. Images
are files' bytes if it sets `BYTES = True`, otherwise pictures of Pillow. A text encoder needs only `embed_texts`.

A tied score is never right. How each item is decided is in manifest.json, under `evaluation`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import io
import json
import math
import operator
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
Z = 1.959963984540054  # of the normal distribution, two-sided 95 %
ROW_GROUPS = 4  # of a parquet file, kept in memory
NONE, RIGHT, WRONG = "none", "right", "wrong"  # choices beside a question's options
LISTED = 10
ORIENTATION = 0x0112  # of EXIF; what turns an image upright
TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


class Unusable(Exception):
    """The message says in a sentence what is wrong."""


# The release


def read_how(manifest):
    """How to evaluate; questions, measures and figures by their names, in the paper's order."""
    how = manifest.get("evaluation")
    if not how:
        raise Unusable("No measure fits the items of this release.")
    return {**how, **{part: {one["name"]: one for one in how[part]} for part in ("questions", "measures", "figures")}}


class Release:
    """The items of one split, with how to evaluate them."""

    def __init__(self, folder, split=""):
        self.folder = Path(folder)
        try:
            manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise Unusable(f"{self.folder} has no readable manifest.json. Name the folder of a release.") from None
        self.how = read_how(manifest)
        splits = list(manifest["splits"])
        self.split = split or ("test" if "test" in splits else splits[-1])
        if self.split not in splits:
            raise Unusable(f"There is no split {self.split}. Choose from {', '.join(splits)}.")
        self.columns = {part: column for column, part in manifest["columns"].items()}
        with (self.folder / "items.jsonl").open(encoding="utf-8") as lines:
            self.items = [item for item in map(json.loads, lines) if item["split"] == self.split]

    def captions(self, item):
        """By role, in order."""
        found = defaultdict(list)
        for caption in item["captions"]:
            found[caption["role"]].append(caption["text"])
        return found

    def image(self, item, role):
        """The SHA-256 of the positive or the chosen negative image; None if there is none."""
        key = (item["negative_image"] or "negative-0") if role == "negative" else f"{role}-0"
        return next((image["sha256"] for image in item["images"] if image["key"] == key), None)

    def names(self, item):
        """Names of the scores for such an item → their captions, and the image's role if they compare one."""
        captions = self.captions(item)
        count = sum(len(captions[role]) for role in ("positive", "negative", "second_positive"))
        return next((one["names"] for one in self.how["scores"] if count > one["more_than"]), {})

    def wanted(self, item):
        """Name of a score → what it compares: ("image", caption, SHA-256) or ("text", caption, caption)."""
        captions, found = self.captions(item), {}
        for name, score in self.names(item).items():
            texts = [captions[role][place] for role, place in score["captions"] if len(captions[role]) > place]
            if len(texts) < len(score["captions"]):
                continue
            if "image" not in score:
                found[name] = ("text", *texts)
            elif sha256 := self.image(item, score["image"]):
                found[name] = ("image", texts[0], sha256)
        return found


def open_images(release):
    """A function from the SHA-256 of an image to its bytes, from the first form of the release that has images."""
    for source in (from_folder, from_archives, from_parquet):
        if found := source(release):
            return found
    raise Unusable("This release has no images, and the model needs them.")


def from_folder(release):
    paths = {path.stem: path for path in (release.folder / "imagefolder" / release.split / "images").glob("*")}
    return (lambda sha256: paths[sha256].read_bytes()) if paths else None


def from_archives(release):
    places = {}  # SHA-256 → path, where its bytes begin, how many there are
    for path in sorted((release.folder / "webdataset").glob(f"{release.split}-*.tar")):
        with tarfile.open(path, "r:") as archive:
            members = {member.name: member for member in archive}
            for name in [name for name in members if name.endswith(".json")]:
                row = json.loads(archive.extractfile(members[name]).read())
                for column, value in row.items():
                    if isinstance(value, dict) and "sha256" in value:
                        ending = value["path"].rpartition(".")[2]
                        member = members[f"{name[: -len('.json')]}.{column}.{ending}"]
                        places[value["sha256"]] = path, member.offset_data, member.size

    def read(sha256):
        path, start, size = places[sha256]
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    return read if places else None


def from_parquet(release):
    columns = [column for part, column in release.columns.items() if part.startswith("image:")]
    if not columns:
        return None
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise Unusable(
            "The images of this release are in parquet. Install pyarrow, or make a release with imagefolder."
        ) from None
    places, kept = {}, {}  # SHA-256 → file, row group, column, row; the last row groups
    for path in sorted((release.folder / "data").glob(f"{release.split}-*.parquet")):
        file = parquet.ParquetFile(path)
        for group in range(file.num_row_groups):
            names = file.read_row_group(group, columns=[f"{column}.path" for column in columns])
            for column in columns:
                for row, image in enumerate(names.column(column).to_pylist()):
                    if image and image["path"]:
                        places.setdefault(image["path"].partition(".")[0], (path, group, column, row))

    def read(sha256):
        path, group, column, row = places[sha256]
        if (path, group, column) not in kept:
            while len(kept) >= ROW_GROUPS:
                kept.pop(next(iter(kept)))
            kept[path, group, column] = parquet.ParquetFile(path).read_row_group(group, columns=[column]).column(column)
        return kept[path, group, column][row].as_py()["bytes"]

    return read if places else None


# The model


class Functions:
    """What a file of the user's own defines."""

    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("user_model", path)
        if spec is None or not Path(path).is_file():
            raise Unusable(f"{path} is not a Python file.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.bytes = getattr(module, "BYTES", False)
        self.pairs = getattr(module, "score", None)
        self.embed_images, self.embed_texts = (getattr(module, f"embed_{one}", None) for one in ("images", "texts"))
        if not self.pairs and not self.embed_texts:
            raise Unusable(f"{path} defines neither score(images, captions) nor embed_texts(texts).")


class OpenClip:
    bytes, pairs = False, None

    def __init__(self, name):
        open_clip, self.torch = importlib.import_module("open_clip"), importlib.import_module("torch")
        local = name.startswith(("hf-hub:", "local-dir:"))
        architecture, pretrained = (name, None) if local else (name.partition(":")[0], name.partition(":")[2] or None)
        model, self.preprocess = open_clip.create_model_from_pretrained(architecture, pretrained=pretrained)
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.model, self.tokenizer = model.eval().to(self.device), open_clip.get_tokenizer(architecture)

    def embed_images(self, images):
        return self._vectors(self.model.encode_image, self.torch.stack([self.preprocess(one) for one in images]))

    def embed_texts(self, texts):
        return self._vectors(self.model.encode_text, self.tokenizer(texts))

    def _vectors(self, encode, batch):
        with self.torch.inference_mode():
            return encode(batch.to(self.device), normalize=True).float().cpu().numpy()


class Transformers:
    bytes, pairs = False, None

    def __init__(self, name):
        transformers, self.torch = importlib.import_module("transformers"), importlib.import_module("torch")
        self.device = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.model = transformers.AutoModel.from_pretrained(name).eval().to(self.device)
        self.processor = transformers.AutoProcessor.from_pretrained(name)
        if not hasattr(self.model, "get_image_features"):
            raise Unusable(f"{name} has no get_image_features. Write its functions into a file and give --functions.")
        self.padding = {"padding": True}
        if "siglip" in self.model.config.model_type:  # trained on captions that are padded to their full length
            length = self.model.config.text_config.max_position_embeddings  # tokenizers of SigLIP 2 do not name it
            self.padding = {"padding": "max_length", "max_length": length}

    def embed_images(self, images):
        return self._vectors(self.model.get_image_features, images=images)

    def embed_texts(self, texts):
        return self._vectors(self.model.get_text_features, text=texts, truncation=True, **self.padding)

    def _vectors(self, encode, **given):
        batch = self.processor(return_tensors="pt", **given).to(self.device)
        with self.torch.inference_mode():
            found = encode(**batch)
        return getattr(found, "pooler_output", found).float().cpu().numpy()


def compute_scores(release, model, size):
    """(item's place, name of a score) → the score."""
    wanted = [
        (place, name, what) for place, item in enumerate(release.items) for name, what in release.wanted(item).items()
    ]
    if not model.pairs and not model.embed_images:
        wanted = [one for one in wanted if one[2][0] == "text"]
    if not model.embed_texts:
        wanted = [one for one in wanted if one[2][0] == "image"]
    if not wanted:
        raise Unusable("The model computes no score that the measures of this release need.")
    read = open_images(release) if any(what[0] == "image" for _, _, what in wanted) else None

    def picture(sha256):
        try:
            content = read(sha256)
        except KeyError:
            raise Unusable(f"The release has no image {sha256}.") from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise Unusable(f"The image {sha256} is damaged. Copy the release again.")
        return content if model.bytes else decode(content)

    texts, images = {}, {}
    by_vectors = [what for _, _, what in wanted if what[0] == "text" or not model.pairs]
    fill(
        texts,
        [text for kind, *rest in by_vectors for text in rest[: 2 if kind == "text" else 1]],
        model.embed_texts,
        size,
        str,
    )
    fill(images, [what[2] for what in by_vectors if what[0] == "image"], model.embed_images, size, picture)
    found = {}
    pairs = [one for one in wanted if one[2][0] == "image"] if model.pairs else []
    for start in range(0, len(pairs), size):
        batch = pairs[start : start + size]
        given = [picture(sha256) for _, _, (_, _, sha256) in batch], [caption for _, _, (_, caption, _) in batch]
        scores = checked(model.pairs(*given), (len(batch),))
        found.update({(place, name): float(one) for (place, name, _), one in zip(batch, scores, strict=True)})
    for place, name, (kind, one, other) in wanted:
        if kind == "text" or not model.pairs:
            found[place, name] = float(texts[one] @ (texts if kind == "text" else images)[other])
    return found


def fill(vectors, things, embed, size, load):
    """Vectors of length 1, each thing once, in the order of the items."""
    things = list(dict.fromkeys(things))
    for start in range(0, len(things), size):
        batch = things[start : start + size]
        found = checked(embed([load(one) for one in batch]), (len(batch), None))
        found = found.astype(np.promote_types(found.dtype, np.float32), copy=False)  # float16 overflows, and ties
        found = found / np.linalg.norm(found, axis=1, keepdims=True)
        vectors.update(zip(batch, checked(found, found.shape), strict=True))


def checked(found, shape):
    found = np.asarray(found)
    if len(found.shape) != len(shape) or any(
        want not in (None, has) for has, want in zip(found.shape, shape, strict=True)
    ):
        raise Unusable(f"The model returned an array of shape {found.shape} for {shape[0]} inputs.")
    if not np.isfinite(found).all():
        raise Unusable("The model returned NaN or infinity.")
    return found


def decode(content):
    """Upright and in RGB: the pixels that Winnow gives to models."""
    pillow = importlib.import_module("PIL.Image")
    with pillow.open(io.BytesIO(content)) as image:
        try:
            turn = TURNS.get(image.getexif().get(ORIENTATION))
        except Exception:  # EXIF may contain anything
            turn = None
        found = in_rgb(image)
    return found.transpose(pillow.Transpose[turn]) if turn else found


def in_rgb(image):
    """Transparency on white; of 16 bits the upper 8."""
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        image = image.convert("I").point(lambda value: value * (1 / 256) + 0).convert("L")
    elif "transparency" in image.info or image.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
        white = importlib.import_module("PIL.Image").new("RGBA", image.size, "white")
        white.alpha_composite(image.convert("RGBA"))
        image = white
    return image.convert("RGB")


# Answers


def read_predictions(release, path):
    """Scores, and choices, each under (item's place, name)."""
    places = {item["id"]: place for place, item in enumerate(release.items)}
    names = {name for one in release.how["scores"] for name in one["names"]}
    scores, choices = {}, {}
    with Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                answer = json.loads(line)
                item, question, score, choice = (answer.get(key) for key in ("item", "question", "score", "choice"))
                hash(question)
                score = float(score) if type(score) is int else score
            except (ValueError, AttributeError, TypeError, OverflowError, RecursionError):
                raise Unusable(f"{path}, line {number}: not a JSON object.") from None
            if not isinstance(item, str) or item not in places:
                raise Unusable(f"{path}, line {number}: the split {release.split} has no item {item!r}.")
            key = places[item], question
            if key in scores or key in choices:
                raise Unusable(f"{path}, line {number}: {question} of {item} is answered twice.")
            if type(score) in (int, float) and question in names and math.isfinite(score):
                scores[key] = float(score)
            elif question in release.how["questions"] and choice in (
                *release.how["questions"][question]["options"],
                NONE,
                RIGHT,
                WRONG,
            ):
                choices[key] = choice
            else:
                raise Unusable(f"{path}, line {number}: no score or option of a question of this release.")
    return scores, choices


def verdicts(release, scores, choices, ties_are_right=False):
    """For each item: question → right, not right, or None if it is not answered. A choice comes before scores. Also
    whether the item is `tied`, if a measure asks: two compared scores are equal, unless ties are right; or a choice is
    none of the options."""
    beats = operator.ge if ties_are_right else operator.gt
    untied = any(measure.get("untied") for measure in release.how["measures"].values())
    found = []
    for place, item in enumerate(release.items):
        own = {}
        for name, question in release.how["questions"].items():
            pairs = question["pairs"]
            if (place, name) in choices:
                own[name] = choices[place, name] in (question["options"][0], RIGHT)
            elif all((place, one) in scores for pair in pairs for one in pair):
                own[name] = all(beats(scores[place, one], scores[place, other]) for one, other in pairs)
            else:
                own[name] = None
        if untied:
            pairs = [pair for question in release.how["questions"].values() for pair in question["pairs"]]
            own["tied"] = NONE in [choices.get((place, name)) for name in release.how["questions"]] or any(
                scores.get((place, one), one) == scores.get((place, other), other)
                for one, other in ([] if ties_are_right else pairs)
            )
        if release.how["halves_of_t2t"]:
            own.update(halves(release.captions(item), {name: scores.get((place, name)) for name in TEXTS}))
        found.append(own)
    return found


def check_complete(release, answers, skip):
    """The places of the items that lack no answer that another item of their type has."""
    asked = defaultdict(set)
    for item, own in zip(release.items, answers, strict=True):
        asked[item["type"]] |= {name for name, verdict in own.items() if verdict is not None}
    lacking = [
        place
        for place, (item, own) in enumerate(zip(release.items, answers, strict=True))
        if not asked[item["type"]] or any(own.get(name) is None for name in asked[item["type"]])
    ]
    if lacking and not skip:
        named = ", ".join(release.items[place]["id"] for place in lacking[:LISTED])
        raise Unusable(
            f"{len(lacking):,} of {len(release.items):,} items lack answers: {named}. A model that answers only the "
            "easy items would look better than it is. Answer all, or give --skip-incomplete."
        )
    left_out = set(lacking)
    return [place for place in range(len(answers)) if place not in left_out]


TEXTS = ("s(p1,p2)", "s(p1,n)", "s(p2,n)")


def halves(captions, scores):
    """The halves of VISLA's T2T: there P1 is the positive caption with fewer edits, in characters, to the negative."""
    roles = [captions[role] for role in ("positive", "second_positive", "negative")]
    if not all(roles) or None in scores.values():
        return {"t2t_p1_n": None, "t2t_p2_n": None}
    one, other, negative = (texts[0] for texts in roles)
    first, second = scores[TEXTS[0]] > scores[TEXTS[2]], scores[TEXTS[0]] > scores[TEXTS[1]]
    nearer = edits(other, negative) < edits(one, negative)
    return dict(zip(("t2t_p1_n", "t2t_p2_n"), (second, first) if nearer else (first, second), strict=True))


def edits(one, other):
    """How many characters to insert, delete or replace (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for i, here in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, there in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (here != there))
    return row[-1]


# Figures


def wilson(right, n):
    """The 95 % interval of a share (Wilson 1927)."""
    share, square = right / n, Z * Z / n
    middle, half = share + square / 2, Z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, (middle - half) / (1 + square)), min(1.0, (middle + half) / (1 + square))


def share_of(answers, measure):
    """The share of items that are right, among those that have every answer that the measure needs."""
    rows = [([own.get(name) for name in measure["questions"]], own.get("tied", False)) for own in answers]
    right = [
        (all(row) if measure["rule"] == "all" else sum(row) == 1) and not (tied and measure.get("untied"))
        for row, tied in rows
        if None not in row
    ]
    found = {"share": None, "low": None, "high": None, "n": len(right), "chance": measure["chance"]}
    if right:
        found["share"] = sum(right) / len(right)
        found["low"], found["high"] = wilson(sum(right), len(right))
    return found


def mean_of(parts, chance):
    """The plain mean of shares; its interval from theirs (MOVER; Zou, Huang and Zhang 2009)."""
    parts = [one for one in parts if one["n"]]
    if not parts:
        return {"share": None, "low": None, "high": None, "n": 0, "chance": chance}
    share = sum(one["share"] for one in parts) / len(parts)
    below = math.hypot(*(one["share"] - one["low"] for one in parts)) / len(parts)
    above = math.hypot(*(one["high"] - one["share"] for one in parts)) / len(parts)
    low, high, n = max(0.0, share - below), min(1.0, share + above), sum(one["n"] for one in parts)
    return {"share": share, "low": low, "high": high, "n": n, "chance": chance, "groups": len(parts)}


def by_subtype(rows):
    """(type, subtype) → answers, in alphabetical order."""
    found = defaultdict(list)
    for item, own in rows:
        found[item["type"], item["subtype"]].append(own)
    return dict(sorted(found.items()))


def figure(how, rows, name):
    """A figure of the kind over rows of (item, answers)."""
    wanted = how["figures"][name]
    measure, only = how["measures"][wanted["measure"]], wanted.get("subtypes")
    if wanted.get("all_typed") and not all(item["type"] and item["subtype"] for item, _ in rows):
        rows = []
    rows = [
        (item, own)
        for item, own in rows
        if wanted.get("type", item["type"]) == item["type"]
        and wanted.get("subtype", item["subtype"]) == item["subtype"]
        and (only is None or item["subtype"] in only)
    ]
    if not wanted.get("mean"):
        return share_of([own for _, own in rows], measure)
    return mean_of([share_of(part, measure) for part in by_subtype(rows).values()], measure["chance"])


def figures(how, rows):
    """`measures`: the kind's figures over all items; `groups`: every measure by type and subtype."""
    rows = list(rows)
    parts = by_subtype(rows)
    groups = []
    for kind in sorted({kind for kind, _ in parts}):
        own = {subtype: part for (type_, subtype), part in parts.items() if type_ == kind}
        groups.append((kind, None, [one for part in own.values() for one in part]))
        groups += [(kind, subtype, part) for subtype, part in own.items()]
    found = [
        {"type": kind, "subtype": subtype, "measures": {n: share_of(part, m) for n, m in how["measures"].items()}}
        for kind, subtype, part in groups
    ]
    if how["means_of_subtypes"]:
        for kind in sorted({kind for kind, _ in parts}):
            own = [part for (type_, _), part in parts.items() if type_ == kind]
            means = {n: mean_of([share_of(part, m) for part in own], m["chance"]) for n, m in how["measures"].items()}
            found.append({"type": kind, "subtype": "mean of subtypes", "measures": means})
    return {"n": len(rows), "measures": {name: figure(how, rows, name) for name in how["figures"]}, "groups": found}


def ties(how, found, rows, generous):
    """How many `items` have tied scores, and the `measures` that would differ if ties were right, as they are in some
    harnesses; empty without ties. `found`: the figures of the rows."""
    items = sum(one != other for (_, one), (_, other) in zip(rows, generous, strict=True))
    shares = {name: figure(how, generous, name)["share"] for name in how["figures"]} if items else {}
    changed = {name: share for name, share in shares.items() if share != found["measures"][name]["share"]}
    return {"items": items, "measures": changed} if items else {}


# The command


def table(found):
    rows = [("", "%", "95 % interval", "chance", "n")]
    for group in [{"type": "", "subtype": None, **found}, *found["groups"]]:
        before = " ".join(filter(None, (group["type"], group["subtype"])))
        for name, one in group["measures"].items():
            if one["n"]:
                share, low, high, chance = (f"{100 * one[key]:.2f}" for key in ("share", "low", "high", "chance"))
                path = f"{before} · {name}" if before else name
                rows.append((path, share, f"{low} to {high}", chance, f"{one['n']:,}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *right]).rstrip()
    if found["in_both_orders"]:
        yield "Chance is that of choices which the model makes twice, with a question's options in both orders."
    if tied := found["ties"]:
        changed = ", ".join(f"{name} {100 * share:.2f}" for name, share in tied["measures"].items()) or "the same"
        yield f"{tied['items']:,} items have tied scores, which count as wrong. With ties as right: {changed}."


def loaded(asked):
    makers = {"functions": Functions, "open_clip": OpenClip, "transformers": Transformers}
    name = next(name for name in makers if getattr(asked, name))
    try:
        return makers[name](getattr(asked, name))
    except ImportError as error:
        raise Unusable(f"{error.name or error} is not installed here.") from None
    except (RuntimeError, ValueError) as error:
        raise Unusable(f"{name} cannot load this model: {error}") from None


def run(asked):
    release = Release(asked.release, asked.split)
    if not release.items:
        raise Unusable(f"The split {release.split} has no items.")
    if asked.predictions:
        scores, choices = read_predictions(release, asked.predictions)
    else:
        scores, choices = compute_scores(release, loaded(asked), asked.batch_size), {}
    if choices:
        for measure in release.how["measures"].values():
            measure["chance"] = measure["chance_in_both_orders"]
    answers = verdicts(release, scores, choices)
    places = range(len(answers))
    if asked.predictions:
        places = check_complete(release, answers, asked.skip_incomplete)
    if asked.out:
        with Path(asked.out).open("w", encoding="utf-8") as file:
            for (place, name), score in sorted(scores.items()):
                item = release.items[place]
                line = {"item": item["id"], "question": name, "score": score}
                line.update({key: item[key] for key in ("type", "subtype") if item[key]})
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    found = {"kind": release.how["kind"], "split": release.split, "in_both_orders": bool(choices)}
    rows = [(release.items[place], answers[place]) for place in places]
    found.update(figures(release.how, rows))
    generous = verdicts(release, scores, choices, ties_are_right=True)
    found["ties"] = ties(release.how, found, rows, [(release.items[place], generous[place]) for place in places])
    return found


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--functions", metavar="FILE.py", help="a file with the functions above")
    model.add_argument("--open-clip", metavar="NAME", help="ARCHITECTURE:WEIGHTS, hf-hub:ORG/MODEL or local-dir:FOLDER")
    model.add_argument("--transformers", metavar="NAME", help="a folder or hub id of a model with two encoders")
    model.add_argument("--predictions", metavar="FILE.jsonl", help="answers, as --out writes them; or with `choice`")
    parser.add_argument("--release", default=HERE, help="its folder, by default that of this script")
    parser.add_argument("--split", default="", help="by default test, or the last split")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--skip-incomplete", action="store_true", help="leave out items that lack predictions")
    parser.add_argument("--out", metavar="FILE.jsonl", help="write the scores as Winnow's predictions")
    parser.add_argument("--json", action="store_true", help="print everything, not rounded")
    asked = parser.parse_args(given)
    if asked.batch_size < 1:
        parser.error("--batch-size must be 1 or more.")
    try:
        found = run(asked)
    except (Unusable, OSError, UnicodeDecodeError) as error:
        sys.exit(f"score.py: {error}")
    print(json.dumps(found, ensure_ascii=False, indent=1) if asked.json else "\n".join(table(found)))


if __name__ == "__main__":
    main()
