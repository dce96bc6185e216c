"""The texts and links on a job's page, by the job's kind. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KindOfJob:
    """`report`: the template for a finished job's report. `nothing` and `kept`: what a failed or cancelled job did not
    store, and what it left for the next one. `again`: the button that leads to the view `form`. `models`: only workers
    with the model packages run it. `page` and `codes`: the help page that explains its problems' codes, and the
    section."""

    report: str = ""
    nothing: str = "Nothing was stored"
    kept: str = ""
    again: str = ""
    form: str = ""
    models: bool = False
    page: str = "reference/formats"
    codes: str = "codes"


WRONG = "what-can-go-wrong"
SCORES = (
    "No scores were stored", "Finished encodings are kept for the next run.", "Score again", "score-new", True,
    "guide/scoring", WRONG,
)  # fmt: skip
KINDS: Mapping[str, KindOfJob] = {
    "import": KindOfJob("imports/_report.html", again="Import again", form="import-new"),
    "predictions": KindOfJob("runs/_predicted.html", again="Import again", form="predictions-new"),
    "ratings": KindOfJob(
        "imported_ratings/_imported.html", again="Import again", form="ratings-new", page="reference/ratings",
        codes=WRONG,
    ),
    "score": KindOfJob("scoring/_scored.html", *SCORES),
    "retrieval": KindOfJob("scoring/_perturbed.html", *SCORES),
    "order-tasks": KindOfJob("scoring/_perturbed.html", *SCORES),
    "ask": KindOfJob(
        "scoring/_asked.html", "No choices were stored",
        "Answers received so far are kept, and will not be requested again.", "Ask again", "ask-new", True,
        "guide/scoring", "asking-an-endpoint",
    ),
    "generate": KindOfJob(
        "generation/_generated.html", "No captions were generated",
        "Answers received so far are kept, and will not be requested again.", "Generate again", "captions-new", True,
        "guide/generating", WRONG,
    ),
    "images": KindOfJob(
        "imports/_report.html", "No images were added", "Finished images are kept for the next run.",
        "Generate again", "images-new", True, "guide/generating-images", WRONG,
    ),
    "train": KindOfJob(
        "training/_trained.html", "No model was stored",
        "If it wrote a checkpoint, training the same again continues from it.", "Train again", "train-new", True,
        "guide/training", WRONG,
    ),
    "correct": KindOfJob(
        "corrections/_done.html", "Nothing was corrected", again="Correct again", form="corrections-new",
        page="guide/corrections", codes=WRONG,
    ),
    "release": KindOfJob("releases/_ready.html"),
}  # fmt: skip
OTHER = KindOfJob()
