"""The form for the user's own question (own_question.py)."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from annotation.protocol_files import own_question
from annotation.protocol_files.drafts import MOST_ASKED, reading_of
from annotation.protocol_files.own_question import KINDS, LABELS, MOST_COMPARED, OF_OPTIONS, RESERVED
from annotation.protocols.schema import MOST_BUTTONS, MOST_KEYS, MOST_OPTIONS
from annotation.protocols.tasks import needs_in_words
from benchmarks.records import ItemRecord

_MOST_SAMPLE = 60  # characters shown of a text to identify its role
_WORDS = {
    "both": "Button for “both”", "neither": "Button for “neither”", "yes": "Button for yes", "no": "Button for no",
    "cannot_tell": "Button for “cannot tell”", "low": "The lowest point means", "high": "The highest point means",
    "not_applicable": "Button for “does not apply”", "tie": "Button for a tie", "both_bad": "Button for “both are bad”",
}  # fmt: skip
_NEEDED = ("yes", "no")
_ALL = "anything: keep every item"
# The page's layout of fields, and the kinds of question that have them ("": all).
_GROUPS = (
    ("kinds", "", ("kind",)),
    ("", "", ("ask",)),
    ("half", "", ("shown",)),
    ("half", " ".join(OF_OPTIONS), ("options",)),
    ("half", "rank", ("ties",)),
    *(("pair", kind, tuple(labels)) for kind, labels in LABELS.items() if labels),
    ("half", "rate", ("points",)),
    ("", "choose compare", ("keep_option",)),
    ("", "yes_no", ("keep_answer",)),
    ("half", "rate", ("mean",)),
    ("half", "", ("judgments",)),
    ("half", "choose yes_no compare", ("least",)),
    ("", "", ("instructions",)),
)


class OwnQuestionForm(forms.Form):
    """A form about items like `item`. Once valid, `text` is the protocol file, under the name that `name_of` gives its
    question. Fields of other kinds of question are ignored.
    """

    kind = forms.ChoiceField(label="What annotators do", choices=list(KINDS.items()), widget=forms.RadioSelect)
    ask = forms.CharField(label="The question", max_length=MOST_ASKED)
    shown = forms.MultipleChoiceField(label="On the screen", required=False, widget=forms.CheckboxSelectMultiple)
    options = forms.MultipleChoiceField(
        label="To choose from, rank or compare", required=False, widget=forms.CheckboxSelectMultiple
    )
    ties = forms.BooleanField(label="Several can share a rank", required=False)
    points = forms.IntegerField(label="Points of the scale", min_value=2, max_value=MOST_BUTTONS)
    judgments = forms.IntegerField(label="Judgments per item", min_value=1, max_value=99)
    keep_option = forms.ChoiceField(label="Keep an item if annotators choose", required=False)
    keep_answer = forms.ChoiceField(
        label="Keep an item if annotators answer", required=False,
        choices=[("", _ALL), ("yes", "yes"), ("no", "no")],
    )  # fmt: skip
    least = forms.IntegerField(
        label="At least this many must agree", min_value=1, max_value=99, 
        help_text="“Cannot judge” is always offered and never keeps an item.",
    )  # fmt: skip
    mean = forms.FloatField(
        label="Keep an item if its mean is at least", required=False, help_text="Leave empty to keep every item."
    )
    instructions = forms.CharField(
        label="Instructions", required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Leave empty for a few sentences about the screen, which a study can change.",
    )  # fmt: skip

    def __init__(self, data: Mapping[str, Any] | None, *, item: ItemRecord, name_of, **given):
        super().__init__(data, **given)
        self.counts, self.name_of, self.text = own_question.counts_of(item), name_of, ""
        words = {role: _in_words(role, count, item) for role, count in self.counts.items()}
        options = {role: said for role, said in words.items() if role.partition(".")[2] not in RESERVED}
        for name, of in (("shown", words), ("options", options), ("keep_option", {"": _ALL, **options})):
            self.fields[name].choices = list(of.items())  # type: ignore[attr-defined]
        for name in (name for labels in LABELS.values() for name in labels):
            hint = "" if name in (*_NEEDED, "low", "high") else "Leave empty not to offer it."
            needed = name in _NEEDED
            self.fields[name] = forms.CharField(label=_WORDS[name], max_length=60, required=needed, help_text=hint)

    def groups(self) -> Iterator[tuple[str, str, list[BoundField]]]:
        for css, kinds, names in _GROUPS:
            yield css, kinds, [self[name] for name in names]

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        kind = given.get("kind", "")
        for _, kinds, names in _GROUPS:
            if kinds and kind not in kinds.split():
                for name in names:
                    self.errors.pop(name, None)
        given["ask"] = " ".join(given.get("ask", "").split())
        given["instructions"] = given.get("instructions", "").replace("\r\n", "\n")
        for name, said in self._wrong(kind, given):
            self.add_error(name, said)
        if not self.errors:
            self.text = own_question.text_of(given, self.counts, self.name_of(given["ask"]))
            for problem in reading_of(self.text).problems:
                self.add_error(None, problem.advice)
        return given

    def _wrong(self, kind: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        options = given.get("options", []) if kind in OF_OPTIONS else []
        if kind in OF_OPTIONS and (said := self._wrong_options(kind, options)):
            yield "options", said
            return
        if kind and kind not in OF_OPTIONS and not given.get("shown"):
            yield "shown", "Tick at least one part of the item."
        keep = given.get("keep_answer") if kind == "yes_no" else given.get("keep_option")
        if kind in ("choose", "compare") and keep and keep not in options:
            yield "keep_option", "Choose one of the parts ticked above, or keep every item."
        elif kind == "compare" and keep and len(options) == 1:
            yield "keep_option", "Pairs within one part keep every item. Choose “anything”, or tick two parts above."
        judgments, points, mean = (given.get(name) for name in ("judgments", "points", "mean"))
        if kind in ("yes_no", "choose", "compare") and keep and judgments and given.get("least", 0) > judgments:
            yield "least", f"An item gets {judgments} judgments. Enter at most {judgments}."
        if kind == "rate" and points and mean is not None and not 1 <= mean <= points:
            yield "mean", f"Enter a number from 1 to {points}, or leave this empty."

    def _wrong_options(self, kind: str, options: list[str]) -> str:
        there = [self.counts[one] for one in options]
        if len({one.startswith("images.") for one in options}) > 1:
            return "Tick only pictures or only texts."
        if kind == "compare" and not (len(there) == 2 or (len(there) == 1 and 2 <= there[0] <= MOST_COMPARED)):
            return f"Tick two parts, or one part of which items have several (at most {MOST_COMPARED})."
        most = MOST_KEYS if kind == "rank" else MOST_OPTIONS
        if kind != "compare" and sum(there) < 2:
            return "Tick at least two texts or two pictures."
        if kind != "compare" and sum(there) > most:
            return f"Tick parts with at most {most} texts or pictures in total. These have {sum(there)}."
        return ""


def _in_words(role: str, count: int, item: ItemRecord) -> str:
    """Return `1 caption: “A cat.”`."""
    kind, _, name = role.partition(".")
    said = "" if kind == "images" else next(one.text for one in item.captions if one.role == name)
    said = said if len(said) <= _MOST_SAMPLE else f"{said[:_MOST_SAMPLE].rstrip()}…"
    return needs_in_words(role, str(count)) + (f": “{said}”" if said else "")
