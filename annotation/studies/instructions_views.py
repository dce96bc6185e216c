"""The page of a stage's instructions: writing a new version, its images, a preview, and the changes between versions.

Annotators get the images under their opaque names.
"""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from annotation import permissions
from annotation.models import Instructions, InstructionsImage, Stage
from annotation.studies import instructions_images, lifecycle, markdown
from annotation.studies.forms import InstructionsForm
from annotation.studies.instructions import LANGUAGES, changed_languages, texts
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import latest
from benchmarks.views.images import send_image

UNFIT = 422
DIGITS = 6  # the most digits in a version
MORE = instructions_images.MOST_BYTES + 1  # enough to see that a file is too large


@dataclass(frozen=True)
class Shown:
    """A text as annotators see it, or the changes in it."""

    code: str
    language: str
    html: SafeString


@require_safe
def instructions_image(request: HttpRequest, opaque: str) -> HttpResponse:
    return send_image(InstructionsImage(opaque=opaque).path)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_instructions(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the page. A POST adds the chosen images and, unless only for that or a preview, saves a new version."""
    stage = permissions.stage_for(request.user, pk, request.GET.get("stage", ""), permissions.needed(request))
    own, by = stage.study.language, audit.named(request.user)
    refused = _add_images(stage, request, by)
    pictures = instructions_images.pictures(stage)
    names = [picture.name for picture in pictures]
    unsaved = {"preview", "upload"} & set(request.POST)
    with latest(stage, request):
        current = stage.instructions.latest("version")
        form = InstructionsForm(request.POST or None, current=current, own=own, images=names)
        if form.is_valid() and not unsaved and not refused:
            revised = lifecycle.revise_instructions(stage=stage, by=by, **form.words())
            saved = f"Version {revised.version} of the instructions is saved."
            messages.success(request, saved if revised != current else "The instructions are unchanged.")
            return redirect("study-stage", pk, stage.position)
    shown = Instructions(**form.words()) if form.is_bound and form.is_valid() else current
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "form": form, "current": current,
        "not_done": "The text was not saved",
        "preview": shown is not current, "pictures": pictures, "refused": refused,
        "texts": [
            Shown(code, LANGUAGES[code], markdown.to_html(text, pictures, level=3))
            for code, text in texts(shown, own).items()
        ],
        **_versions(stage, current, request.GET),
    }  # fmt: skip
    return render(request, "studies/instructions.html", context, status=UNFIT if form.errors or refused else 200)


def _add_images(stage: Stage, request: StaffRequest, by: str) -> list[str]:
    """Store the uploaded files; return what is wrong with them, a sentence each."""
    refused = []
    for file in request.FILES.getlist("images"):
        try:
            instructions_images.add(stage=stage, file_name=file.name or "", data=file.read(MORE), by=by)
        except instructions_images.CannotAdd as why:
            refused.append(str(why))
    return refused


def _versions(stage: Stage, current: Instructions, asked: QueryDict) -> dict:
    """Return two versions (`?from=1&to=3`; by default the last two) and their differences in each language."""
    found = {one.version: one for one in stage.instructions.all()}
    after = found.get(permissions.whole_number(asked.get("to"), DIGITS) or 0, current)
    before = found.get(permissions.whole_number(asked.get("from"), DIGITS) or 0) or found.get(after.version - 1)
    if before is None:
        return {"versions": list(found.values())}
    changed = changed_languages(before, after, stage.study.language)
    return {
        "versions": list(found.values()),
        "compared": [("from", "From", before), ("to", "To", after)],
        "changed": [Shown(code, LANGUAGES[code], html) for code, html in changed],
    }
