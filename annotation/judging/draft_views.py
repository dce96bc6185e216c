"""Try a draft of a protocol file on items of a benchmark: the judging page, and what follows from each answer.

As in a trial of a stage (trial_views.py), nothing is written; study and stage are made up for the page. The editor
shows these pages in a frame.
"""

from collections.abc import Mapping
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from annotation.judging.trial_views import SCREENS, Trial, act, history_of, screen_or_next
from annotation.models import ProtocolDraft, Stage, Study
from annotation.protocol_files import drafts
from annotation.protocol_files.consequences import consequences_of
from annotation.protocol_files.publish import digest_of
from annotation.protocol_files.views import draft_for
from annotation.protocols.base import CANNOT_JUDGE, UnsuitableItem
from annotation.protocols.compile import is_plain
from annotation.protocols.schema import ProtocolFile
from annotation.screens.trial import leases_under, random_items
from annotation.studies import markdown
from annotation.studies.instructions import default_instructions
from benchmarks import queries
from benchmarks.permissions import StaffRequest, staff_only

framed = csp_replace({"frame-ancestors": [SELF]})


class DraftTrial(Trial):
    """A trial of a file on items of the draft's benchmark. `unsuitable`: why some of the items drawn make no screens.

    Answers belong to the text that asked them.
    """

    def __init__(self, request: StaffRequest, draft: ProtocolDraft, file: ProtocolFile, seed: int):
        protocol = drafts.reading_of(draft.text).protocol
        assert protocol is not None
        items = random_items(draft.benchmark, seed, SCREENS) if draft.benchmark else []
        study = Study(name=file.title, benchmark=draft.benchmark)
        self.file, self.unsuitable = file, []
        for item in items:
            try:
                protocol.tasks_for(queries.record_of(item), {})
            except UnsuitableItem as reason:
                self.unsuitable.append(str(reason))
        leases = leases_under(protocol, items, seed, SCREENS)
        super().__init__(request, Stage(study=study), protocol, leases, _home(draft, seed), digest_of(draft.text))

    def instructions(self) -> Mapping[str, Any]:
        language = get_language()
        words = default_instructions(self.protocol, language)
        return {"rules": markdown.to_html(words, level=3), "written": language, "protocol": self.protocol}

    def rows(self) -> list[dict]:
        """Of each answer: its item, the answer in words where it has more than a value, and what follows from it."""
        given = [row for row in super().rows() if "label" in row]
        if is_plain(self.file):
            given = [row if row["label"] == CANNOT_JUDGE else {**row, "words": ""} for row in given]
        return [{**row, "follows": consequences_of(self.file, row["label"])} for row in given]


def _home(draft: ProtocolDraft, seed: int) -> str:
    return reverse("protocol-try", args=[draft.pk, seed])


def _trial(request: StaffRequest, pk: int, seed: int) -> DraftTrial | None:
    """None while the file has problems."""
    draft = draft_for(request, pk)
    file = drafts.reading_of(draft.text).file
    return DraftTrial(request, draft, file, seed) if file else None


def _nothing_to_try(request: StaffRequest, pk: int) -> HttpResponse:
    return render(request, "protocol_files/try_end.html", {"draft": draft_for(request, pk), "wrong": True}, status=409)


@require_safe
@framed
@xframe_options_sameorigin
@staff_only
def protocol_try(request: StaffRequest, pk: int, seed: int) -> HttpResponse:
    """The judging page, then what follows from the answers; asked for JSON, what comes next."""
    trial = _trial(request, pk, seed)
    if trial is None:
        return _nothing_to_try(request, pk)
    if "rules" in request.GET:
        return redirect("protocol-try", pk, seed)
    if found := screen_or_next(request, trial):
        return found
    return render(request, "protocol_files/try_end.html", {**_results(trial), "draft": draft_for(request, pk)})


@require_safe
@staff_only
def protocol_try_answers(request: StaffRequest, pk: int, seed: int) -> HttpResponse:
    """What follows from the answers so far, as a fragment beside the editor."""
    trial = _trial(request, pk, seed)
    return render(request, "protocol_files/_answers.html", _results(trial) if trial else {})


def _results(trial: DraftTrial) -> dict[str, Any]:
    return {"answered": trial.rows(), "unsuitable": trial.unsuitable, "file": trial.file, "screens": len(trial.leases)}


@require_safe
@staff_only
def protocol_try_history(request: StaffRequest, pk: int, seed: int) -> HttpResponse:
    trial = _trial(request, pk, seed)
    return history_of(request, trial) if trial else _nothing_to_try(request, pk)


@csrf_exempt  # there is nothing to forge: all that changes is the visitor's own cookie
@require_POST
@framed
@xframe_options_sameorigin
@staff_only
def protocol_try_act(request: StaffRequest, pk: int, seed: int, do: str) -> HttpResponse:
    trial = _trial(request, pk, seed)
    return act(request, trial, do) if trial else _nothing_to_try(request, pk)
