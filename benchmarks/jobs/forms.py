"""Form fields for files that a job will read."""

from collections import Counter

from django import forms
from django.core.files.uploadedfile import UploadedFile

NAME = 255  # characters, and bytes


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several: cleans to a list."""

    widget = FilesInput

    def clean(self, data, initial=None) -> list[UploadedFile]:
        cleaned = [forms.FileField.clean(self, file, initial) for file in data or [None]]
        return [file for file in cleaned if file]


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
