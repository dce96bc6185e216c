"""The models that score.py runs, and their scores for the items of a release."""

import hashlib
import importlib
import importlib.util
from collections import defaultdict
from pathlib import Path

import numpy as np

from annotation.releases.scoring.released.images import decode, open_images
from annotation.releases.scoring.released.items import Cut, Unusable


class Functions:
    """What a file of the user's own defines."""

    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("user_model", path)
        if spec is None or not Path(path).is_file():
            raise Unusable(f"{path} is not a Python file.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.bytes = getattr(module, "BYTES", False)
        self.pairs, self.cut = getattr(module, "score", None), getattr(module, "cut", None)
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
        self.context = len(self.tokenizer([""])[0])

    def cut(self, text):
        """The tokens that it reads of a caption that is too long for it; None if it reads all of it. A token stands for
        at least one byte, so there is room for all.
        """
        read, whole = self.tokenizer([text])[0], self.tokenizer([text], self.context + len(text.encode()))[0]
        end = whole[self.context :]
        return read.tolist() if (whole[: self.context] != read).any() or (end != whole[-1]).any() else None

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

    def cut(self, text):
        most = self.padding.get("max_length")
        whole = self.processor.tokenizer(text, verbose=False)["input_ids"]
        read = self.processor.tokenizer(text, truncation=True, max_length=most, verbose=False)["input_ids"]
        return read if len(whole) > len(read) else None

    def embed_images(self, images):
        return self._vectors(self.model.get_image_features, images=images)

    def embed_texts(self, texts):
        return self._vectors(self.model.get_text_features, text=texts, truncation=True, **self.padding)

    def _vectors(self, encode, **given):
        batch = self.processor(return_tensors="pt", **given).to(self.device)
        with self.torch.inference_mode():
            found = encode(**batch)
        return getattr(found, "pooler_output", found).float().cpu().numpy()


def compute_scores(release, wanted, asked):
    """(item's place, name of a score) → the score, of those `wanted`: with what is compared, as `wanted_of` has it; and
    what was `Cut`, None if the model does not say. Places whose captions the model reads alike have no scores: it
    cannot be right or wrong there.
    """
    model, size = loaded(asked), asked.batch_size
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

    pairs = [one for one in wanted if model.pairs and one[2][0] == "image"]
    rest = [one for one in wanted if not model.pairs or one[2][0] == "text"]
    texts = vectors_of([text for _, _, what in rest for text in _captions(what)], model.embed_texts, size)
    scores = {**_of_pairs(pairs, model, size, picture), **_of_vectors(rest, texts, model, size, picture)}
    cut = _cut(wanted, model.cut, texts)
    alike = {*cut.alike} if cut else ()
    return {key: score for key, score in scores.items() if key[0] not in alike}, cut


def _captions(what):
    kind, *compared = what
    return compared[: 2 if kind == "text" else 1]


def _cut(wanted, cut, vectors):
    if cut is None:
        return None
    found = defaultdict(set)
    for place, _, what in wanted:
        found[place].update(_captions(what))
    every = sorted(set().union(*found.values()))
    read = {text: str([*tokens]) for text in every if (tokens := cut(text)) is not None}
    places = [place for place, texts in found.items() if texts & read.keys()]
    return Cut(places, [place for place in places if _alike(found[place], read, vectors)])


def _alike(texts, read, vectors):
    """Whether what the model reads of one is what it reads of another, or all of it."""
    of_cut = [read[text] for text in texts if text in read]
    whole = [vectors[text] for text in texts if text not in read and text in vectors]
    equal = (np.array_equal(vectors[one], other) for one in texts & read.keys() & vectors.keys() for other in whole)
    return len({*of_cut}) < len(of_cut) or any(equal)


def _of_pairs(wanted, model, size, picture):
    """Scores that a model gives to an image and a caption together."""
    found = {}
    for batch in _batches(wanted, size):
        given = [picture(sha256) for _, _, (_, _, sha256) in batch], [caption for _, _, (_, caption, _) in batch]
        scores = checked(model.pairs(*given), (len(batch),))
        found.update({(place, name): float(one) for (place, name, _), one in zip(batch, scores, strict=True)})
    return found


def _of_vectors(wanted, texts, model, size, picture):
    """Cosines; `texts`: the vectors of captions."""
    shown = [sha256 for _, _, (kind, _, sha256) in wanted if kind == "image"]
    images = vectors_of(shown, lambda some: model.embed_images([picture(one) for one in some]), size)
    return {
        (place, name): float(texts[one] @ (texts if kind == "text" else images)[other])
        for place, name, (kind, one, other) in wanted
    }


def vectors_of(things, embed, size):
    """Vectors of length 1 by thing, each thing once, in the order of the items."""
    vectors = {}
    for batch in _batches(list(dict.fromkeys(things)), size):
        found = checked(embed(batch), (len(batch), None))
        found = found.astype(np.promote_types(found.dtype, np.float32), copy=False)  # float16 overflows, and ties
        found = found / np.linalg.norm(found, axis=1, keepdims=True)
        vectors.update(zip(batch, checked(found, found.shape), strict=True))
    return vectors


def _batches(things, size):
    return [things[start : start + size] for start in range(0, len(things), size)]


def checked(found, shape):
    found = np.asarray(found)
    if len(found.shape) != len(shape) or any(
        want not in (None, has) for has, want in zip(found.shape, shape, strict=True)
    ):
        raise Unusable(f"The model returned an array of shape {found.shape} for {shape[0]} inputs.")
    if not np.isfinite(found).all():
        raise Unusable("The model returned NaN or infinity.")
    return found


def loaded(asked):
    makers = {"functions": Functions, "open_clip": OpenClip, "transformers": Transformers}
    name = next(name for name in makers if getattr(asked, name))
    try:
        return makers[name](getattr(asked, name))
    except ImportError as error:
        raise Unusable(f"{error.name or error} is not installed here.") from None
    except (RuntimeError, ValueError) as error:
        raise Unusable(f"{name} cannot load this model: {error}") from None
