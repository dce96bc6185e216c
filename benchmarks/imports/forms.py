"""The form of the import page."""

from django import forms
from django.core.files.uploadedfile import UploadedFile

from benchmarks.formats.base import HOLDS_IMAGES, ORIGIN, Format, wrong_origins
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.sugarcrepe_compare import ORIGINS
from benchmarks.imports.run import benchmark_name
from benchmarks.jobs.forms import DescribedForm, FilesField, fits
from benchmarks.models import Benchmark
from benchmarks.records import Refused

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif")


class ImportForm(DescribedForm):
    format = forms.ChoiceField(choices=[(format.name, format.title) for format in FORMATS.values()], initial="jsonl")
    data = FilesField(allow_empty_file=True)  # type: ignore[assignment]  # the class removes its fields
    second = FilesField(required=False, allow_empty_file=True)
    first_origin = forms.CharField(required=False, initial=ORIGINS[0], max_length=ORIGIN)
    second_origin = forms.CharField(required=False, initial=ORIGINS[1], max_length=ORIGIN)
    images = FilesField(required=False, allow_empty_file=True)
    name = forms.CharField(max_length=Benchmark._meta.get_field("name").max_length)
    format_captions = forms.BooleanField(required=False)
    text_only = forms.BooleanField(required=False)
    new_candidates = forms.BooleanField(required=False)
    skip_incomplete = forms.BooleanField(required=False)
    skip_missing_images = forms.BooleanField(required=False)
    check_only = forms.BooleanField(required=False)  # the other button

    def clean_images(self) -> list[UploadedFile]:
        files = self.cleaned_data["images"]
        allowed = (*ARCHIVES, *PICTURES) if len(files) == 1 else PICTURES
        if not all(fits(file.name, allowed) for file in files):
            raise forms.ValidationError("Give one .zip, .tar or .tar.gz, or the image files themselves.")
        return files

    def clean_name(self) -> str:
        try:
            return benchmark_name(self.cleaned_data["name"])
        except Refused as refusal:
            raise forms.ValidationError(refusal.problems[0].advice) from None

    def clean(self) -> None:
        given, format = self.cleaned_data, FORMATS.get(self.cleaned_data.get("format", ""))
        if format is None:
            return
        self.check_files("data", format)
        self.check_files("second", format)
        if format.sides:
            self.check_sides(format, *format.sides)
        elif given.get("second"):
            self.add_error("second", f"{format.title} has no second side.")
        if format.images and given.get("images"):
            self.add_error("images", HOLDS_IMAGES)
        if given.get("new_candidates"):
            self.check_new_candidates(format)

    def check_files(self, name: str, format: Format) -> None:
        """Check the files' endings and their number."""
        files = self.cleaned_data.get(name, [])
        wrong = [file.name for file in files if not fits(file.name, format.endings)]
        if wrong:
            others = ", ".join(one.title for one in FORMATS.values() if fits(wrong[0], one.endings))
            hint = f"These formats take such files: {others}." if others else format.accepts
            self.add_error(name, f"{format.title} does not take “{wrong[0]}”. {hint}")
        elif not format.several and len(files) > 1:
            self.add_error(name, f"{format.title} takes one file. Import the files one by one.")

    def check_sides(self, format: Format, first: str, second: str) -> None:
        """One archive has both sides; single files belong to one. Also the names of origins, if the format has any."""
        files, others = self.cleaned_data.get("data", []), self.cleaned_data.get("second")
        if files and not others and not fits(files[0].name, ARCHIVES) and "second" not in self.errors:
            self.add_error("second", f"These are the {first} side. Give the {second} side too.")
        if format.origins and (wrong := wrong_origins(self.origins(format))):
            self.add_error("second_origin", wrong)

    def origins(self, format: Format) -> list[str]:
        """The names of the sides; empty if the format's sides have none."""
        given = self.cleaned_data.get("first_origin"), self.cleaned_data.get("second_origin")
        return [name or usual for name, usual in zip(given, format.origins or (), strict=False)]

    def check_new_candidates(self, format: Format) -> None:
        cleaned = self.cleaned_data
        if not format.candidates:
            self.add_error("new_candidates", f"{format.title} has no candidate images.")
        elif cleaned.get("text_only"):
            self.add_error("new_candidates", "New candidates are images. Clear “Text only”.")
        if "name" in cleaned and not Benchmark.objects.filter(name=cleaned["name"]).exists():
            self.add_error("name", "There is no benchmark with this name to add new candidates to.")
