"""What the import page asks for."""

from collections import Counter

from django import forms
from django.core.files.uploadedfile import UploadedFile

from benchmarks.formats.base import HOLDS_IMAGES, ORIGIN, Format, wrong_origins
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.sugarcrepe_compare import ORIGINS
from benchmarks.models import Benchmark
from workers.scoring.model_name import LONGEST

NAME = 255  # characters, and bytes
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif")


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several: cleans to a list."""

    widget = FilesInput

    def clean(self, data, initial=None) -> list[UploadedFile]:
        cleaned = [forms.FileField.clean(self, file, initial) for file in data or [None]]
        return [file for file in cleaned if file]


class ImportForm(forms.Form):
    format = forms.ChoiceField(choices=[(format.name, format.title) for format in FORMATS.values()], initial="jsonl")
    data = FilesField(allow_empty_file=True)
    second = FilesField(required=False, allow_empty_file=True)
    first_origin = forms.CharField(required=False, initial=ORIGINS[0], max_length=ORIGIN)
    second_origin = forms.CharField(required=False, initial=ORIGINS[1], max_length=ORIGIN)
    images = FilesField(required=False, allow_empty_file=True)
    name = forms.CharField(max_length=Benchmark._meta.get_field("name").max_length)
    format_captions = forms.BooleanField(required=False)
    text_only = forms.BooleanField(required=False)
    new_candidates = forms.BooleanField(required=False)
    skip_incomplete = forms.BooleanField(required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name in self.errors:
                field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"{name}-error"}

    def clean_data(self) -> list[UploadedFile]:
        return named_once(self.cleaned_data["data"])

    def clean_second(self) -> list[UploadedFile]:
        return named_once(self.cleaned_data["second"])

    def clean_images(self) -> list[UploadedFile]:
        files = named_once(self.cleaned_data["images"])
        allowed = ARCHIVES if len(files) == 1 else PICTURES
        if any(not file.name.lower().endswith((*allowed, *PICTURES)) for file in files):
            raise forms.ValidationError("Give one .zip, .tar or .tar.gz, or the image files themselves.")
        return files

    def clean(self) -> dict:
        cleaned = super().clean()
        format = FORMATS.get(cleaned.get("format", ""))
        if format:
            self.check_files("data", format)
            self.check_files("second", format)
            if format.sides:
                self.check_sides(cleaned, format)
            elif cleaned.get("second"):
                self.add_error("second", f"{format.title} has no second side.")
            if format.images and cleaned.get("images"):
                self.add_error("images", HOLDS_IMAGES)
            if cleaned.get("new_candidates"):
                self.check_new_candidates(cleaned, format)
        return cleaned

    def check_files(self, name: str, format: Format) -> None:
        """Their endings, and how many they are."""
        files = self.cleaned_data.get(name, [])
        wrong = [file.name for file in files if not fits(file.name, format.endings)]
        if wrong:
            self.add_error(name, f"{format.title} does not take “{wrong[0]}”. {format.accepts}")
        elif not format.several and len(files) > 1:
            self.add_error(name, f"{format.title} takes one file; import one after the other.")

    def check_sides(self, cleaned: dict, format: Format) -> None:
        """One archive holds both sides; loose files are of one. The names of origins, where the format has such."""
        files = cleaned.get("data", [])
        if files and not cleaned.get("second") and not fits(files[0].name, ARCHIVES) and "second" not in self.errors:
            self.add_error("second", f"These are the {format.sides[0]} side; give the {format.sides[1]} side too.")
        if format.origins and (wrong := wrong_origins(self.origins(cleaned, format))):
            self.add_error("second_origin", wrong)

    @staticmethod
    def origins(cleaned: dict, format: Format) -> list[str] | None:
        """What the sides are called; None where the format's sides have no names."""
        if not format.origins:
            return None
        given = cleaned.get("first_origin"), cleaned.get("second_origin")
        return [name or usual for name, usual in zip(given, format.origins, strict=True)]

    def check_new_candidates(self, cleaned: dict, format: Format) -> None:
        if not format.candidates:
            self.add_error("new_candidates", f"{format.title} has no candidate images.")
        elif cleaned.get("text_only"):
            self.add_error("new_candidates", "New candidates are images: take “Text alone” away.")
        if "name" in cleaned and not Benchmark.objects.filter(name=cleaned["name"]).exists():
            self.add_error("name", "There is no benchmark of this name whose items could get new candidates.")


class ScoreForm(forms.Form):
    """Which model scores. Whether there is such a model, the worker says: this process does not know open_clip."""

    model = forms.CharField(max_length=LONGEST)
    pretrained = forms.CharField(max_length=LONGEST, required=False)
    device = forms.CharField(max_length=8, initial="auto")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
            if name in self.errors:
                field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"{name}-error"}

    def clean(self) -> dict:
        """Of the server's files only those in its folder for models can be named here."""
        cleaned = super().clean()
        for name in ("model", "pretrained"):
            given = cleaned.get(name, "")
            paths = [one.strip() for one in (given, given.partition(":")[2])]  # whole, or behind `local-dir:`
            if any(path.startswith(("/", "~", "./", "../", "\\")) or ".." in path.split("/") for path in paths):
                self.add_error(name, "Give the name of a file or folder in the server's folder for models, not a path.")
        return cleaned


def check_length(name: str) -> None:
    """What is longer cannot be saved as a file; Django cuts names down to 255 characters."""
    if len(name) >= NAME or len(name.encode("utf-8", "replace")) > NAME:
        raise forms.ValidationError(f"The name “{name[:40]}…” is too long. Shorten it, or pack the files in a .zip.")


def fits(name: str, endings: tuple[str, ...]) -> bool:
    return name.lower().endswith(endings)


def named_once(files: list[UploadedFile]) -> list[UploadedFile]:
    """Under the names that they have on their owner's disk: browsers write a quotation mark in a name as %22."""
    for file in files:
        check_length(file.name)
        file.name = file.name.replace("%22", '"')
    twice = [name for name, count in Counter(file.name for file in files).items() if count > 1]
    if twice:
        raise forms.ValidationError(f"“{twice[0]}” is chosen twice; give each file a name of its own.")
    return files
