"""What a job's page says, and where it leads, by the job's kind. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindOfJob:
    """`report`: the template of what a finished job reports. `nothing` and `kept`: what a job that failed or was
    cancelled did not store, and what it left for the next one. `again`: the button below, which leads to the view
    `form`. `models`: only workers with the packages for models run it."""

    report: str = ""
    nothing: str = "Nothing was stored"
    kept: str = ""
    again: str = ""
    form: str = ""
    models: bool = False


SCORES = "No scores were stored", "Finished encodings are kept for the next run.", "Score again", "score-new", True
KINDS: Mapping[str, KindOfJob] = {
    "import": KindOfJob("imports/_report.html", again="Import again", form="import-new"),
    "predictions": KindOfJob("runs/_predicted.html", again="Import again", form="predictions-new"),
    "score": KindOfJob("scoring/_scored.html", *SCORES),
    "retrieval": KindOfJob("scoring/_retrieved.html", *SCORES),
    "ask": KindOfJob(
        "scoring/_asked.html", "No choices were stored",
        "Answers received so far are kept, and are not asked for again.", "Ask again", "ask-new", True,
    ),
    "generate": KindOfJob(
        "generation/_generated.html", "No captions were generated",
        "Answers received so far are kept, and are not asked for again.", "Generate again", "captions-new", True,
    ),
    "images": KindOfJob(
        "imports/_report.html", "No images were added", "Finished images are kept for the next run.",
        "Generate again", "images-new", True,
    ),
    "train": KindOfJob(
        "training/_trained.html", "No model was stored",
        "If it wrote a checkpoint, training the same again continues from it.", "Train again", "train-new", True,
    ),
    "release": KindOfJob("releases/_ready.html"),
}  # fmt: skip
OTHER = KindOfJob()
