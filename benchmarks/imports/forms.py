"""The form of the import page."""

import json
from collections.abc import Sequence

from django import forms

from benchmarks.formats.base import ORIGIN, PICTURES, Format
from benchmarks.formats.own.choices import chosen
from benchmarks.formats.own.mapping import NotAMapping
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.sugarcrepe_compare import ORIGINS
from benchmarks.imports.order import LONGEST, OWN, Options, benchmark_name, contradictions
from benchmarks.jobs.columns import choices_in
from benchmarks.jobs.forms import FilesField, fits
from benchmarks.jobs.kept_forms import KeptFilesForm
from benchmarks.models import Benchmark
from benchmarks.records import Refused

FILES = ("data", "second", "images")
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


class ImportForm(KeptFilesForm):
    FILES = FILES
    takes = Options
    files = None  # type: ignore[assignment]  # which other such forms have
    format = forms.ChoiceField(choices=[(format.name, format.title) for format in FORMATS.values()], initial=OWN)
    data = FilesField(label="Data files", required=False, allow_empty_file=True)  # type: ignore[assignment]  # the class removes its fields
    second = FilesField(label="Second side", required=False, allow_empty_file=True)
    first_origin = forms.CharField(
        label="First negatives’ origin", required=False, initial=ORIGINS[0], max_length=ORIGIN
    )
    second_origin = forms.CharField(
        label="Second negatives’ origin", required=False, initial=ORIGINS[1], max_length=ORIGIN
    )
    images = FilesField(required=False, allow_empty_file=True)
    name = forms.CharField(label="Benchmark name", max_length=LONGEST)
    aside: frozenset[str] = frozenset()  # ids of uploads among the data files that are images

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
        self.sort_files()
        super().clean()
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

    def sort_files(self) -> None:
        """Sort the data files: pictures are images, and so are archives beside a table."""
        given = self.cleaned_data
        uploads = [one for one in self.kept if one.id in self.ids("data", "kept") | self.ids("data", "new")]
        files = given.get("data", [])
        tables = [one for one in (*files, *uploads) if not fits(one.name, ARCHIVES + PICTURES)]
        endings = PICTURES + ARCHIVES if tables else PICTURES
        self.aside = frozenset(one.id for one in uploads if fits(one.name, endings))
        given["images"] = [*given.get("images", []), *(file for file in files if fits(file.name, endings))]
        given["data"] = [file for file in files if file not in given["images"]]

    def ids(self, name: str, which: str) -> set[str]:
        moved = super().ids("data", which) & self.aside
        return super().ids(name, which) | moved if name == "images" else super().ids(name, which) - moved

    def take_choices(self) -> None:
        """Take the mapping, if the page of columns sent the columns' meanings."""
        try:
            if found := choices_in(self.data):
                self.cleaned_data["mapping"] = json.dumps(chosen(found).as_json(), ensure_ascii=False)
        except NotAMapping as error:
            self.add_error("mapping", str(error))

    def switches(self) -> list[forms.BoundField]:
        """Return the options that are ticked; *Check only* is a button."""
        buttons = ("check_only", "look")
        return [one for one in self if isinstance(one.field, forms.BooleanField) and one.name not in buttons]

    def has_options(self) -> bool:
        """Return whether anything besides the files and the name is set or wrong."""
        if self["format"].value() != OWN or {"format", "images", "second", "second_origin"} & {*self.errors}:
            return True
        return any(one.value() or one.errors for one in (*self.switches(), self["split"], self["mapping"]))

    def takes_several(self, name: str, files: Sequence) -> bool:
        archive = any(fits(file.name, ARCHIVES) for file in files)
        return not archive and (name == "images" or FORMATS[self.cleaned_data["format"]].several)

    def check_images(self) -> None:
        files = self.cleaned_data.get("images", [])
        allowed = (*ARCHIVES, *PICTURES) if len(files) == 1 else PICTURES
        if not all(fits(file.name, allowed) for file in files):
            self.add_error("images", "Upload one .zip, .tar or .tar.gz, or the image and video files themselves.")

    def check_files(self, name: str, format: Format) -> None:
        """Check the files' extensions and their number."""
        files = self.cleaned_data.get(name, [])
        wrong = [file.name for file in files if not fits(file.name, format.endings)]
        if wrong:
            others = ", ".join(one.title for one in FORMATS.values() if fits(wrong[0], one.endings))
            hint = f" Formats that accept this type of file: {others}." if others else ""
            self.add_error(name, f"{format.title} does not accept “{wrong[0]}”. {format.accepts}{hint}")
        elif not format.several and len(files) > 1:
            self.add_error(name, f"{format.title} accepts only one file. Import the files one at a time.")

    def check_sides(self, first: str, second: str) -> None:
        """Check the sides: one archive has both; single files belong to one."""
        files, others = self.cleaned_data.get("data", []), self.cleaned_data.get("second")
        if files and not others and not fits(files[0].name, ARCHIVES) and "second" not in self.errors:
            self.add_error("second", f"These files are the {first} side. Upload the {second} side too.")

    def origins(self, format: Format) -> list[str]:
        """Return the names of the sides; empty if the format's sides have none."""
        given = self.cleaned_data.get("first_origin"), self.cleaned_data.get("second_origin")
        return [name or usual for name, usual in zip(given, format.origins or (), strict=False)]
