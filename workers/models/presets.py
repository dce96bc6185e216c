"""Each preset's training material and settings. Independent of torch, so that pages can show them.

Unless a comment says otherwise, the numbers are BiVLC's (Appendix E); docs/guide/training.md has the same table.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from workers.models.refusals import CannotScore

ACCURACY, RETRIEVAL = "accuracy", "retrieval"  # the criterion for the best epoch: the preset's own questions, or recall
LEAST = 10  # items with everything the preset needs


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that determines a training, besides the base model and the items.

    `batch`: items (for detectors: images or captions); hard negatives and positives are additional. `hard_negative` and
    `hard_positive` weight these losses; a preset with hard positives and a weight of 0 does not see any hard negatives,
    as in Hard Positive §5.3 (Table 3). `image_epochs` are those of a detector's neuron for images. `neighbours`: how
    many of the most similar images each image's strong alternative is drawn from, 0 for none. `rates` are tried after
    `rate`, each from the base model; `choose` is the criterion for the best epoch of all.
    """

    preset: str
    batch: int
    epochs: int
    rate: float = 1e-6
    warmup: int = 50  # steps
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-6
    decay: float = 0.1
    hard_negative: float = 0.0
    hard_positive: float = 0.0
    image_epochs: int = 0
    neighbours: int = 0
    rates: tuple[float, ...] = ()
    choose: str = ACCURACY
    seed: int = 0

    @property
    def all_epochs(self) -> int:
        return self.epochs * (1 + len(self.rates)) + self.image_epochs

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"betas": list(self.betas), "rates": list(self.rates)}


@dataclass(frozen=True, slots=True)
class Preset:
    """`needs`: the parts of an item that it trains on, besides the positive caption and image. `loss` in words."""

    title: str
    loss: str
    needs: tuple[str, ...]
    settings: Settings

    @property
    def name(self) -> str:
        return self.settings.preset

    @property
    def detects(self) -> bool:
        """Return whether it trains a detector of generated content, instead of an encoder."""
        return self.settings.image_epochs > 0

    @property
    def without(self) -> frozenset[str]:
        """Return the settings that would not have any effect."""
        found = set() if CAPTION in self.needs and IMAGE not in self.needs else {"hard_negative"}
        return frozenset(found | ({"neighbours", "rates", "choose"} if self.detects else set()))


CAPTION, IMAGE, SECOND = "negative caption", "negative image", "second positive caption"
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("CLIP-COCO", "InfoNCE", (), Settings("clip_coco", batch=400, epochs=10)),
        # ARO, App. C: batch, epochs, the smallest rate of its sweep (1e-5, 5e-6, 1e-6), AdamW with 50 warm-up steps;
        # strong alternatives among the 3 nearest images (§4, C.2), and the choice by retrieval (C.3)
        Preset(
            "NegCLIP", "InfoNCE with hard negative captions and similar images in the batch", (CAPTION,),
            Settings("negclip", batch=1024, epochs=5, neighbours=3, choose=RETRIEVAL),
        ),
        Preset(
            "TROHN-Text", "InfoNCE with hard negative captions in the batch", (CAPTION,),
            Settings("trohn_text", batch=200, epochs=10),
        ),
        Preset(
            "TROHN-Img", "InfoNCE over positive and negative pairs", (CAPTION, IMAGE),
            Settings("trohn_img", batch=200, epochs=10),
        ),
        # Epochs: Hard Positive, Appendix D.1; weights: §5.4; the paper does not give the rest
        Preset(
            "Hard Positive", "InfoNCE with hard negatives in the batch + hard-negative loss + hard-positive loss",
            (CAPTION, SECOND), Settings("hard_positive", batch=200, epochs=5, hard_negative=1.0, hard_positive=1.0),
        ),
        Preset(
            "Detector", "binary cross-entropy; one sigmoid neuron each for captions and images, encoders frozen",
            (CAPTION, IMAGE),
            Settings(
                "detector", batch=400, epochs=10, image_epochs=1, warmup=0, betas=(0.9, 0.999), epsilon=1e-8, decay=0.0
            ),
        ),
    )
}  # fmt: skip
LIMITS = {
    "batch": (2, 100_000), "epochs": (1, 1000), "rate": (1e-9, 10.0), "warmup": (0, 100_000), "seed": (0, 2**31),
    "hard_negative": (0.0, 100.0), "neighbours": (0, 1000),
}  # fmt: skip


def settings_of(preset: str, **changes: Any) -> Settings:
    """Return the preset's settings with changes that are not None. Raises CannotScore: PRESET_UNKNOWN, BAD_SETTING.

    `epochs` applies to both neurons of a detector.
    """
    if preset not in PRESETS:
        raise CannotScore("PRESET_UNKNOWN", f"There is no preset “{preset[:40]}”. Use one of {', '.join(PRESETS)}.")
    given = {name: value for name, value in changes.items() if value is not None}
    numbers = [(name, value) for name, value in given.items() if name in LIMITS]
    for name, value in [*numbers, *(("rate", rate) for rate in given.get("rates", ()))]:
        low, high = LIMITS[name]
        if not low <= value <= high:
            raise CannotScore("BAD_SETTING", f"The setting {name} must be between {low:g} and {high:g}, not {value}.")
    if {*given} & PRESETS[preset].without:
        names = ", ".join(sorted({*given} & PRESETS[preset].without))
        raise CannotScore("BAD_SETTING", f"The preset {PRESETS[preset].title} has no setting {names}. Leave it out.")
    if "epochs" in given and PRESETS[preset].detects:
        given["image_epochs"] = given["epochs"]
    return replace(PRESETS[preset].settings, **given)


def settings_from(value: Mapping[str, Any]) -> Settings:
    """Restore settings from their `as_json`."""
    known = {field.name for field in fields(Settings)} & {*value}
    pairs = ((name, value[name]) for name in known)
    given: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in pairs}
    return Settings(**given)
