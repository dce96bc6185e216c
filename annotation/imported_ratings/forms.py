"""The form of the page that makes a study of ratings."""

from django import forms

from annotation.imported_ratings.order import ProtocolField, RatingsOrder
from annotation.protocol_files.offers import newest_versions
from annotation.protocols import library
from benchmarks.jobs.forms import FilesField
from benchmarks.jobs.orders import OrderForm, options_of


def protocol_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The newest versions of published protocol files, and those of the library."""
    published = [(str(version), f"{version.title} ({version})") for version in newest_versions()]
    shipped = [(name, f"{library.shipped(name).title} ({name})") for name in library.names()]
    return [("Published", published), ("Library", shipped)]


class RatingsForm(OrderForm):
    takes = RatingsOrder
    files = FilesField(allow_empty_file=True)  # type: ignore[assignment]  # the class removes its fields

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        described = options_of(RatingsOrder)["protocol"].field
        self.fields["protocol"] = ProtocolField(
            max_length=40, label=described.label, help_text=described.help_text,
            widget=forms.Select(choices=protocol_choices()),
        )  # fmt: skip

    def clean_files(self):
        files = self.cleaned_data["files"]
        if len(files) > 1:
            raise forms.ValidationError("Give one file of ratings.")
        return files
