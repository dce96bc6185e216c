"""The form of the import page."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django import forms

from benchmarks.formats.base import ORIGIN, PICTURES, Format
from benchmarks.formats.own.mapping import Choice, NotAMapping, chosen
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.sugarcrepe_compare import ORIGINS
from benchmarks.imports.order import LONGEST, OWN, Options, benchmark_name, contradictions
from benchmarks.jobs.forms import FilesField, fits
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.jobs.orders import OrderForm
from benchmarks.models import Benchmark
from benchmarks.records import Refused

FILES = ("data", "second", "images")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


def choices_in(data: Any) -> list[Choice]:
    """What a form says of each column."""
    return [Choice(*one) for one in zip(*(data.getlist(name) for name in ("place", "what", "role")), strict=False)]


class ImportForm(OrderForm):
    takes = Options
    format = forms.ChoiceField(choices=[(format.name, format.title) for format in FORMATS.values()], initial=OWN)
    data = FilesField(required=False, allow_empty_file=True)  # type: ignore[assignment]  # the class removes its fields
    second = FilesField(required=False, allow_empty_file=True)
    first_origin = forms.CharField(required=False, initial=ORIGINS[0], max_length=ORIGIN)
    second_origin = forms.CharField(required=False, initial=ORIGINS[1], max_length=ORIGIN)
    images = FilesField(required=False, allow_empty_file=True)
    name = forms.CharField(max_length=LONGEST)

    def __init__(self, *args, kept: Sequence[Upload] = (), **more):
        """`kept`: the user's uploads. Values `images_kept` and so on are ids of those to use again,
        `images_new` of those that were uploaded for this form."""
        super().__init__(*args, **more)
        self.kept = kept
        self.retained: set[str] = set()  # ids of uploads that came with this form, which has errors

    def ids(self, name: str, which: str) -> set[str]:
        if self.is_bound:
            return {*self.data.getlist(f"{name}_{which}")}  # type: ignore[attr-defined]  # what was sent, not the field
        return {*self.initial.get(f"{name}_{which}", ())}

    @property
    def earlier_uploads(self) -> dict[str, list[tuple[Upload, bool]]]:
        """By field: each earlier upload, and whether it is to be used again."""
        return {
            name: [
                (upload, upload.id in self.ids(name, "kept") | self.ids(name, "new") | self.retained)
                for upload in self.kept
                if upload.field == name
            ]
            for name in FILES
        }

    def clean_name(self) -> str:
        try:
            return benchmark_name(self.cleaned_data["name"])
        except Refused as refusal:
            raise forms.ValidationError(refusal.problems[0].advice) from None

    def clean(self) -> None:
        given, format = self.cleaned_data, FORMATS.get(self.cleaned_data.get("format", ""))
        if format is None:
            return
        self.take_choices()
        for name in FILES:
            self.add_kept(name, format)
        if not given.get("data") and "data" not in self.errors:
            self.add_error("data", forms.Field.default_error_messages["required"])
        self.check_images()
        self.check_files("data", format)
        self.check_files("second", format)
        if format.sides:
            self.check_sides(*format.sides)
        sent = {"second": bool(given.get("second")), "images": bool(given.get("images"))}
        for field, advice in contradictions(format, self.order, **sent, origins=self.origins(format)):
            self.add_error(field, advice)
        extended = given.get("name")
        if given.get("new_candidates") and extended and not Benchmark.objects.filter(name=extended).exists():
            self.add_error("name", "There is no benchmark with this name to add new candidates to.")

    def take_choices(self) -> None:
        """The mapping, if the page of columns sent what each of them is."""
        try:
            if found := choices_in(self.data):
                self.cleaned_data["mapping"] = json.dumps(chosen(found).as_json(), ensure_ascii=False)
        except NotAMapping as error:
            self.add_error("mapping", str(error))

    def switches(self) -> list[forms.BoundField]:
        """The options that are ticked; *Check only* is a button."""
        buttons = ("check_only", "look")
        return [one for one in self if isinstance(one.field, forms.BooleanField) and one.name not in buttons]

    def add_kept(self, name: str, format: Format) -> None:
        """Add the earlier uploads to the new files. New files replace those of the same name, or all if the field takes
        only one file."""
        uploads = {upload.id: upload for upload in self.kept if upload.complete}
        kept, fresh = self.ids(name, "kept"), self.ids(name, "new")
        if name not in self.cleaned_data:
            return
        new = [*self.cleaned_data[name], *(upload for id, upload in uploads.items() if id in fresh)]
        chosen = [upload for id, upload in uploads.items() if id in kept - fresh]
        archive = any(fits(file.name, ARCHIVES) for file in (*chosen, *new))
        several = not archive if name == "images" else format.several and not archive
        if not {*fresh, *(kept if several or not new else ())} <= uploads.keys():
            self.add_error(name, "A file that you chose to use again is no longer there. Upload it again.")
            return
        names = {file.name for file in new}
        stay = [upload for upload in chosen if upload.name not in names and (several or not new)]
        twice = [file for file, count in Counter(file.name for file in (*stay, *new)).items() if count > 1]
        if twice:
            self.add_error(name, f"Two uploads are called “{twice[0]}”. Choose one of them.")
        else:
            self.cleaned_data[name] = [*stay, *new]

    def check_images(self) -> None:
        files = self.cleaned_data.get("images", [])
        allowed = (*ARCHIVES, *PICTURES) if len(files) == 1 else PICTURES
        if not all(fits(file.name, allowed) for file in files):
            self.add_error("images", "Upload one .zip, .tar or .tar.gz, or the image and video files themselves.")

    def check_files(self, name: str, format: Format) -> None:
        """Check the files' endings and their number."""
        files = self.cleaned_data.get(name, [])
        wrong = [file.name for file in files if not fits(file.name, format.endings)]
        if wrong:
            others = ", ".join(one.title for one in FORMATS.values() if fits(wrong[0], one.endings))
            hint = f" Formats that accept this type of file: {others}." if others else ""
            self.add_error(name, f"{format.title} does not accept “{wrong[0]}”. {format.accepts}{hint}")
        elif not format.several and len(files) > 1:
            self.add_error(name, f"{format.title} accepts only one file. Import the files one at a time.")

    def check_sides(self, first: str, second: str) -> None:
        """One archive has both sides; single files belong to one."""
        files, others = self.cleaned_data.get("data", []), self.cleaned_data.get("second")
        if files and not others and not fits(files[0].name, ARCHIVES) and "second" not in self.errors:
            self.add_error("second", f"These files are the {first} side. Upload the {second} side too.")

    def origins(self, format: Format) -> list[str]:
        """The names of the sides; empty if the format's sides have none."""
        given = self.cleaned_data.get("first_origin"), self.cleaned_data.get("second_origin")
        return [name or usual for name, usual in zip(given, format.origins or (), strict=False)]
