"""The form for turning ratings into a study."""

from django import forms

from annotation.imported_ratings.columns_page import roles_in
from annotation.imported_ratings.order import ProtocolField, RatingsOrder, asked
from annotation.protocol_files.offers import newest_versions
from annotation.protocols import library
from annotation.protocols.ratings import own_values
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.own.ratings import RatingsMapping
from benchmarks.jobs.columns import AnswersForm
from benchmarks.jobs.orders import options_of


def protocol_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the newest versions of published protocol files, and the library's files."""
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

    def words(self) -> list[tuple[str, str]]:
        """Return each question with its possible answers, except questions answered by any text or number."""
        titled = (one for _, choices in protocol_choices() for one in choices)
        return [(title, words) for name, title in titled if (words := _words(asked(name, "")))]

    def takes_several(self, name, files) -> bool:
        return False

    def clean(self) -> None:
        super().clean()
        if mapped := roles_in(self.data):
            self.cleaned_data["roles"] = mapped
        if len(self.cleaned_data.get("files", ())) > 1:
            self.add_error("files", "Choose one file of ratings.")


def _words(file: ProtocolFile) -> str:
    """Return the answers in words; with many options, only the first and the last: picture-0, picture-1, …, tie."""
    found = {one.name: own_values(file, one) for one in file.answers}
    short = {name: [*words[:2], "…", *words[-3:]] if len(words) > 12 else words for name, words in found.items()}
    several = len(file.answers) > 1
    return "; ".join(f"{name}: " * several + ", ".join(words) for name, words in short.items() if words)
