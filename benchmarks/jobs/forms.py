"""Shared by forms that start a job: fields for files."""

from collections import Counter

from django import forms
from django.core.files.uploadedfile import UploadedFile

NAME = 255  # characters, and bytes


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or several files, cleaned to a list; each keeps its name on the user's disk. Only files sent count: the
    earlier order that prefills a form has server paths under the field's name."""

    widget = FilesInput

    def clean(self, data, initial=None) -> list[UploadedFile]:
        cleaned = [forms.FileField.clean(self, file) for file in data or [None]]
        files = [file for file in cleaned if file]
        for file in files:
            check_length(file.name)
            file.name = file.name.replace("%22", '"')  # browsers escape quotation marks like this
        twice = [name for name, count in Counter(file.name for file in files).items() if count > 1]
        if twice:
            raise forms.ValidationError(f"“{twice[0]}” was chosen twice. Give each file a different name.")
        return files


def check_length(name: str) -> None:
    """Reject names too long for the file system; Django shortens names to 255 characters."""
    if len(name) >= NAME or len(name.encode("utf-8", "replace")) > NAME:
        raise forms.ValidationError(f"The name “{name[:40]}…” is too long. Shorten it, or pack the files in a .zip.")


def fits(name: str, endings: tuple[str, ...]) -> bool:
    return name.lower().endswith(endings)
