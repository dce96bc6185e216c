"""The rail at the left of every page of a study: its places, with what waits in each."""

from collections.abc import Mapping

from django.http import HttpRequest
from django.urls import reverse

from annotation.dashboard import home_page
from annotation.dashboard.home_page import StudyStep
from annotation.figures import human_baseline
from annotation.models import Study
from annotation.pipeline.part import items_of
from benchmarks.places import Place, links

PLACES = (
    Place("", "Overview", "study-detail"),
    Place("stages", "Stages", "study-stages"),
    Place("items", "Items", "study-items"),
    Place("people", "People", "study-annotators", (("Prolific", "study-prolific"),)),
    Place("quality", "Quality", "study-agreement", (
        ("Agreement", "study-agreement"), ("Disagreements", "study-disagreements"),
        ("Decide by hand", "study-adjudicate"), ("Readers’ reports", "study-reader-reports"),
    )),
    Place("results", "Results", "study-results", (
        ("People and models", "study-results"), ("Human baseline", "study-baseline"), ("Models", "benchmark-models"),
        ("Releases", "release-list"), ("Report", "study-report"), ("Exports", "study-results#exports"),
    )),
    Place("settings", "Settings", "study-settings", (
        ("Name and texts", "study-settings#texts"), ("Pay", "study-settings#pay"),
        ("Judgments and rule", "study-settings#rule"), ("Checks and practice", "study-settings#checks"),
        ("Members", "study-members"), ("Webhooks", "study-webhooks"), ("Close or delete", "study-settings#end"),
    )),
)  # fmt: skip
BELOW = {  # pages that belong to a place with a link
    "study-instructions": "study-settings#rule", "study-checks": "study-settings#checks",
    "study-checks-pick": "study-settings#checks", "study-delete": "study-settings#end",
    "release-detail": "release-list", "release-new": "release-list",
}  # fmt: skip
ELSEWHERE = {"release-": "results", "webhook-": "settings"}  # beginnings of names of addresses outside `studies/`


def rail(request: HttpRequest, study: Study, found: StudyStep | None = None) -> dict:
    """Return the links, which one is open, what waits, and the next step, unless the page is the overview or the step's
    own. `found` is the step of a page that has it.
    """
    here, address = _place_of(request)
    waits: Mapping[str, str] = {}
    if study.may.manage:
        found = found or home_page.step_of(home_page.listed(request.user, study))
        review, undecided = len(found.study.review), found.undecided
        waits = {"people": f"{review:,} to look at" if review else "", "quality": f"{undecided:,}" if undecided else ""}
    stages = found.stages if found else list(study.stages.all())
    counts = {"stages": len(stages), "items": found.study.items if found else items_of(study).count()}
    measured = human_baseline.pairs_of(stages) if here == "results" else []
    hidden = set() if study.may.manage else {"study-prolific", "study-settings"}
    leads_here = found and found.step.url.partition("#")[0] == request.get_full_path()
    return {
        "label": "Study", "name": study.name, "up": ("All studies", reverse("study-list")),
        "links": links(
            PLACES, lambda name: _address(name, study), here, BELOW.get(address, address),
            hidden if measured else {*hidden, "study-baseline"}, counts, waits,
        ),
        "step": found.step if found and here and not found.step.is_last and not leads_here else None,
    }  # fmt: skip


def _address(name: str, study: Study) -> str:
    """Return the address; `study-results#exports` is part of a page."""
    name, _, part = name.partition("#")
    of = study.benchmark_id if name.startswith("benchmark-") else study.pk
    return reverse(name, args=[of]) + (part and f"#{part}")


def _place_of(request: HttpRequest) -> tuple[str, str]:
    """Return the key of the place that the request's page belongs to, and the name of its address."""
    match = request.resolver_match
    name = (match and match.url_name) or ""
    for start, key in ELSEWHERE.items():
        if name.startswith(start) and not (match and match.route.startswith("studies/")):
            return key, name
    parts = match.route.split("/") if match else []
    return (parts[2] if len(parts) > 2 else ""), name
