"""Try a draft or an available question on a benchmark's items: the judging page, and the consequences of each answer.

As in a trial of a stage (trial_views.py), nothing is written; study and stage are made up for the page. The editor
shows these pages in a frame. An address names either a draft (`pk`), or a question and a benchmark.
"""

from collections.abc import Mapping
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from annotation.designs import fit, presets
from annotation.judging.trial_views import SCREENS, Trial, act, history_of, screen_or_next
from annotation.models import ProtocolDraft, Stage, Study
from annotation.protocol_files import drafts
from annotation.protocol_files.consequences import consequences_of
from annotation.protocol_files.publish import digest_of
from annotation.protocol_files.views import draft_for
from annotation.protocols.base import CANNOT_JUDGE, Protocol, UnsuitableItem
from annotation.protocols.compile import is_plain
from annotation.protocols.registry import is_known, protocol_named
from annotation.protocols.schema import ProtocolFile
from annotation.screens.trial import leases_under, random_items
from annotation.studies import markdown
from annotation.studies.instructions import default_instructions
from benchmarks import queries
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, staff_only

framed = csp_replace({"frame-ancestors": [SELF]})


class FileTrial(Trial):
    """A trial of a file on a benchmark's items. `unsuitable`: why some of the items drawn have no screens; `back`: the
    page it was started from.

    The `salt` ties answers to the text of their questions.
    """

    def __init__(
        self, request: StaffRequest, protocol: Protocol, file: ProtocolFile, benchmark: Benchmark | None, seed: int,
        home: str, back: tuple[str, str], salt: str = "",
    ):  # fmt: skip
        items = random_items(benchmark, seed, SCREENS) if benchmark else []
        self.file, self.unsuitable, self.back = file, [], back
        for item in items:
            try:
                protocol.tasks_for(queries.record_of(item), {})
            except UnsuitableItem as reason:
                self.unsuitable.append(str(reason))
        leases = leases_under(protocol, items, seed, SCREENS)
        stage = Stage(study=Study(name=file.title, benchmark=benchmark))
        super().__init__(request, stage, protocol, leases, home, salt)

    def instructions(self) -> Mapping[str, Any]:
        language = get_language()
        words = default_instructions(self.protocol, language)
        return {"rules": markdown.to_html(words, level=3), "written": language, "protocol": self.protocol}

    def rows(self) -> list[dict]:
        """Return each answer's item, its words if it is more than a value, and its consequences."""
        given = [row for row in super().rows() if "label" in row]
        if is_plain(self.file):
            given = [row if row["label"] == CANNOT_JUDGE else {**row, "words": ""} for row in given]
        return [{**row, "follows": consequences_of(self.file, row["label"])} for row in given]


def _back_to(draft: ProtocolDraft) -> tuple[str, str]:
    return reverse("protocol-draft", args=[draft.pk]), "Back to the draft"


def _trial(
    request: StaffRequest, seed: int, pk: int | None = None, question: str = "", benchmark: int | None = None
) -> FileTrial | None:
    """Return the trial; None while the file has problems."""
    if pk is None:
        return _of_question(request, question, get_object_or_404(Benchmark, pk=benchmark), seed)
    draft = draft_for(request, pk)
    reading, home = drafts.reading_of(draft.text), reverse("protocol-try", args=[pk, seed])
    if reading.file is None or reading.protocol is None:
        return None
    salt = digest_of(draft.text)
    return FileTrial(request, reading.protocol, reading.file, draft.benchmark, seed, home, _back_to(draft), salt)


def _of_question(request: StaffRequest, question: str, benchmark: Benchmark, seed: int) -> FileTrial:
    """Return the trial of a library or published question, with the benchmark's names for its parts."""
    file = protocol_named(question).made_from if is_known(question) else None
    if file is None:
        raise Http404("That question does not exist.")
    stages, first = presets.single_stage(question).stages, drafts.first_item(benchmark)
    [stage] = (first and fit.fitted(stages, first)) or stages
    home = reverse("protocol-trial", args=[question, benchmark.pk, seed])
    back = f"{reverse('protocol-list')}?benchmark={benchmark.pk}", "Back to the questions"
    return FileTrial(request, protocol_named(stage.protocol), file, benchmark, seed, home, back)


def _nothing_to_try(request: StaffRequest, pk: int) -> HttpResponse:
    context = {"back": _back_to(draft_for(request, pk)), "wrong": True}
    return render(request, "protocol_files/try_end.html", context, status=409)


@require_safe
@framed
@xframe_options_sameorigin
@staff_only
def protocol_try(request: StaffRequest, seed: int, **which: Any) -> HttpResponse:
    """Show the judging page, then the consequences of the answers; as JSON, the next step."""
    trial = _trial(request, seed, **which)
    if trial is None:
        return _nothing_to_try(request, which["pk"])
    if "rules" in request.GET:
        return redirect(trial.home)
    if found := screen_or_next(request, trial):
        return found
    return render(request, "protocol_files/try_end.html", {**_results(trial), "back": trial.back})


@require_safe
@staff_only
def protocol_try_answers(request: StaffRequest, seed: int, **which: Any) -> HttpResponse:
    """Show the consequences of the answers so far, as a fragment beside the editor."""
    trial = _trial(request, seed, **which)
    return render(request, "protocol_files/_answers.html", _results(trial) if trial else {})


def _results(trial: FileTrial) -> dict[str, Any]:
    return {"answered": trial.rows(), "unsuitable": trial.unsuitable, "file": trial.file, "screens": len(trial.leases)}


@require_safe
@staff_only
def protocol_try_history(request: StaffRequest, seed: int, **which: Any) -> HttpResponse:
    trial = _trial(request, seed, **which)
    return history_of(request, trial) if trial else _nothing_to_try(request, which["pk"])


@csrf_exempt  # nothing to forge: only the visitor's own cookie changes
@require_POST
@framed
@xframe_options_sameorigin
@staff_only
def protocol_try_act(request: StaffRequest, seed: int, do: str, **which: Any) -> HttpResponse:
    trial = _trial(request, seed, **which)
    return act(request, trial, do) if trial else _nothing_to_try(request, which["pk"])
