"""The form of the page that makes a study of ratings."""

from django import forms

from annotation.imported_ratings.columns_page import roles_in
from annotation.imported_ratings.order import ProtocolField, RatingsOrder
from annotation.protocol_files.offers import newest_versions
from annotation.protocols import library
from benchmarks.formats.own.ratings import RatingsMapping
from benchmarks.jobs.columns import AnswersForm
from benchmarks.jobs.orders import options_of


def protocol_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The newest versions of published protocol files, and those of the library."""
    published = [(str(version), f"{version.title}, version {version.number}") for version in newest_versions()]
    shipped = [(name, library.shipped(name).title) for name in library.names()]
    return [("Published", published), ("Library", shipped)]


class RatingsForm(AnswersForm):
    takes, mapped = RatingsOrder, RatingsMapping

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        described = options_of(RatingsOrder)["protocol"].field
        self.fields["protocol"] = ProtocolField(
            max_length=40, label=described.label, help_text=described.help_text,
            widget=forms.Select(choices=protocol_choices()),
        )  # fmt: skip

    def takes_several(self, name, files) -> bool:
        return False

    def clean(self) -> None:
        super().clean()
        if mapped := roles_in(self.data):
            self.cleaned_data["roles"] = mapped
        if len(self.cleaned_data.get("files", ())) > 1:
            self.add_error("files", "Give one file of ratings.")
