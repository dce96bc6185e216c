"""Compile a protocol file into a protocol that stages can ask.

An answer that is a single pick (of options, fixed answers or points of a scale) is stored as the identity of the
option. All others are forms, whose labels are described in `answers`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from annotation.protocols import answers, base, schema, simulated, tasks, values
from annotation.protocols.keys import given_keys
from annotation.protocols.layout import drawn_by
from annotation.protocols.measuring import labels_listed, lists_labels, seen, seen_as
from annotation.protocols.numbers import is_typed
from annotation.protocols.schema import ProtocolFile, bounds
from annotation.wording import exact, gettext_noop

GENERIC = "judging/_declared.html"
SCRIPT, STYLE = "js/judging/declared.js", "css/judge-declared.css"
MARKS = "js/judging/marks.js"  # for marks on pictures
_CHOSEN = "candidate"  # role of the images that stages choose from
_BAR = 36  # characters in a row of answers on a phone
_PICK_PICTURE = gettext_noop("pick a picture")
_PICK_SENTENCE = gettext_noop("pick a sentence")
_TIE = gettext_noop("answer it with a tie")


@dataclass(frozen=True, slots=True)
class _Layout:
    """A screen designed for one kind of question rather than for every file: its template, script and keys."""

    template: str
    script: str
    style: str
    picks: tuple[str, str]
    keys: tuple[tuple[str, str], ...]


_RANK = _Layout(
    "judging/_rank.html",
    "js/judging/rank.js",
    "css/judge-rank.css",
    ("1 2 3", gettext_noop("rank the marked sentence, and mark the next one")),
    (("↑ ↓", gettext_noop("mark the sentence above or below")), ("A B C", gettext_noop("mark that sentence"))),
)
_COMPARE = _Layout(
    "judging/_compare.html",
    "js/judging/compare.js",
    "css/judge-compare.css",
    ("1 2", gettext_noop("answer the marked question with that sentence, and mark the next question")),
    (("↑ ↓", gettext_noop("mark the other question")),),
)


def as_protocol(file: ProtocolFile, name: str, decides: bool = True) -> base.Protocol:
    """Return the file as a protocol called `name`.

    If the file does not decide, a stage's own judgments, tie and rule take precedence over the file's.
    """
    layout = _layout(file)
    template = layout.template if layout else _template(file)
    form = None if is_plain(file) else _form(file, layout)
    has_pictures = any(role.startswith("images.") for role in file.roles)
    return base.Protocol(
        name=name,
        title=file.title,
        question=file.ask,
        shown=file.shown or _shown(file),
        instructions=(file.instructions, base.PICTURE_CLOSING if has_pictures else base.TEXT_CLOSING),
        template=template,
        tasks=partial(tasks.tasks_of, file),
        fixed=_fixed(file) if form is None else (),
        picks=layout.picks if layout else _picks(file),
        more_keys=_keys_of_long(file) if form is None else (),
        projections=_projections(file),
        drops=_drops(file) if decides else _drops_of_chosen(file) | _drops(file),
        alike=any(isinstance(one, schema.Pick) and one.alike for one in file.answers),
        measures=all(isinstance(rule, schema.BradleyTerry) for rule in file.decide),
        leaks=frozenset(file.leaks),
        right_answer=partial(_right_answer, file) if file.right and form is None else base.no_right_answer,
        form=form,
        file=file if decides else None,
        made_from=file,
        pick_style=STYLE if template == GENERIC else "",
    )


def is_plain(file: ProtocolFile) -> bool:
    """Return whether a single pick answers the whole screen."""
    match file.answers:
        case [schema.Pick(many=False) | schema.Pair() | schema.Scale() as one]:
            return not is_typed(one)
    return False


def value_of(file: ProtocolFile, identity: str) -> str:
    """Return the file's name for a stored answer of a plain protocol: `positive` for `caption-positive-0`.

    An image chosen by an earlier stage stands for the only role of images, among the options, that has no other name.
    """
    answer = file.answers[0]
    if identity == base.CANNOT_JUDGE or identity in fixed_values(file):
        return identity
    name = values.option_name(file, identity)
    own_role = f"images.{values.role_of(identity)}" in file.roles or identity.startswith(base.CAPTION_PREFIX)
    if own_role:
        return name
    alone = [role for role in _options(answer, file) if role.startswith("images.")]
    return alone[-1].partition(".")[2] if alone and values.is_alone(file, alone[-1]) else name


def in_own_names(file: ProtocolFile, label: str) -> str:
    """Return a stored answer with the file's names for the options; forms store them so."""
    return value_of(file, label) if is_plain(file) else label


def _options(answer: schema.Answer, file: ProtocolFile) -> Sequence[str]:
    """Return the roles whose members an answer chooses from, if it does."""
    return values.options_of(file, answer) if isinstance(answer, answers.Choosing) else []


def fixed_values(file: ProtocolFile) -> list[str]:
    """Return a plain protocol's stored answers other than options: points of the scale, and fixed answers."""
    answer = file.answers[0]
    points = values.points(answer) if isinstance(answer, schema.Scale) else []
    return [*points, *values.fixed_of(answer)]


def _fixed(file: ProtocolFile) -> tuple[base.Choice, ...]:
    answer = file.answers[0]
    anchors = answer.anchors if isinstance(answer, schema.Scale) else {}
    return tuple(
        replace(one, label=f"{one.identity}: {one.label}") if one.identity in anchors else one
        for one in given_keys(file)[answer.name]
    )


def _picks(file: ProtocolFile) -> tuple[str, str]:
    options = _options(file.answers[0], file) if is_plain(file) else []
    if not options:
        return "", ""
    most = _most_options(file, file.answers[0])
    does = _PICK_PICTURE if options[0].startswith("images.") else _PICK_SENTENCE
    return "1 2" if most == 2 else f"1 – {min(most, schema.MOST_KEYS)}", does


def _most_options(file: ProtocolFile, answer: schema.Answer) -> int:
    if isinstance(answer, schema.Pair):
        return 2
    return sum(bounds(file.roles[role])[1] or schema.MOST_OPTIONS for role in _options(answer, file))


def _keys_of_long(file: ProtocolFile) -> tuple[tuple[str, str], ...]:
    """Return the keys of a pick with more options than keys."""
    long = [one for one in file.answers if isinstance(one, schema.Pick) and _most_options(file, one) > schema.MOST_KEYS]
    found = [("↑ ↓", gettext_noop("mark an option, which Space or Enter chooses"))] if long else []
    if any(not role.startswith("images.") for one in long for role in one.of):
        found.append(("/", gettext_noop("find words among the options")))
    return tuple(found)


def _layout(file: ProtocolFile) -> _Layout | None:
    """Return the layout of three sentences ranked below a picture, ties allowed; or of two sentences compared twice,
    each time with a tie. Their templates show nothing else.
    """
    options = [role for one in file.answers for role in _options(one, file)]
    if any(role.startswith("images.") for role in options):
        return None
    match file.screen, file.answers:
        case [schema.Picture(label=None, points=None, boxes=None)], [schema.Rank(ties=True, required=True)]:
            counts = [bounds(file.roles[role]) for role in options]
            three = sum(least for least, _ in counts) == 3 and all(least == most for least, most in counts)
            return _RANK if three else None
        case [schema.Sentence(label=None)], [schema.Pair() as one, schema.Pair() as other] if one.of == other.of:
            plain = all(each.tie and each.required and not each.both_bad and not each.when for each in (one, other))
            return _COMPARE if plain else None
    return None


def _template(file: ProtocolFile) -> str:
    """Return the template: for picking pictures or sentences, or for a statement about a picture, if one fits."""
    blocks, answer = file.screen, file.answers[0]
    if (
        not is_plain(file)
        or _most_options(file, answer) > schema.MOST_KEYS
        or not _fits_bar(answer)
        or any(map(_has_more, blocks))
    ):
        return GENERIC
    kinds = [type(block) for block in blocks]
    options = _options(answer, file)
    images = {role.startswith("images.") for role in options}
    if images == {True} and kinds == [schema.Sentence]:
        return "judging/_pick_picture.html"
    if images == {False} and kinds == [schema.Picture]:
        return "judging/_pick_sentence.html"
    if not options and sorted(one.__name__ for one in kinds) == ["Picture", "Sentence"]:
        return "judging/_verify.html"
    return GENERIC


def _has_more(block: schema.Block) -> bool:
    """Return whether the block has something that only the general template shows."""
    return bool(getattr(block, "label", None)) or (isinstance(block, schema.Picture) and bool(drawn_by(block)))


def _fits_bar(answer: schema.Answer) -> bool:
    """Return whether the fixed answers fit in one row on a phone."""
    labels = [one.label for one in values.fixed_of(answer).values()]
    return not isinstance(answer, schema.Scale) and len(labels) <= 3 and sum(map(len, labels)) <= _BAR


_WORDS = {
    schema.Picture: "a picture", schema.Pictures: "several pictures", schema.Sentence: "a text",
    schema.Listed: "several texts", schema.OnRequest: "a picture",
}  # fmt: skip


def _shown(file: ProtocolFile) -> str:
    found = list(dict.fromkeys(_WORDS[type(block)] for block in file.screen))
    roles = [role for one in file.answers for role in _options(one, file)]
    options = {"several pictures" if role.startswith("images.") else "several texts" for role in roles}
    return " and ".join([*found, *sorted(options - set(found))]) or "some material"


def _right_answer(
    file: ProtocolFile, question: str, options: Sequence[str], of_item: base.Attributes = base.NO_ATTRIBUTES
) -> str:
    """Return the option or fixed answer that is right by construction or by the item."""
    right = answers.right_answer(file, file.answers[0].name, question, of_item)
    if not right or right in fixed_values(file):
        return right
    return next((one for one in options if value_of(file, one) == right), "")


def _projections(file: ProtocolFile) -> dict[str, base.Projection]:
    """Return a projection for each answer (if there are several), each view, and each statement that is measured."""
    return {view: _on(file, *of) for view, of in seen(file).items()}


def _on(file: ProtocolFile, name: str, table: Mapping[str, str] | None = None) -> base.Projection:
    answer = file.answer(name.partition(".")[0])

    def projection(label: str) -> str:
        if label == base.CANNOT_JUDGE:
            return table.get(label, label) if table else label
        said = answers.given(in_own_names(file, label), name, file)
        return seen_as(answer, table, said) if table and said else said

    return projection


def _drops(file: ProtocolFile) -> dict[str, str]:
    """Return why each stored answer, or its role, would drop the item on its own; for a form, by answer and value."""
    plain = is_plain(file)
    found: dict[str, str] = {}
    for rule in file.decide:
        for value, why in _dropped_by(file, rule).items():
            for label in _labels_of(file, value) if plain else [f"{rule.answer} {value}"]:
                found.setdefault(label, why)
    if file.decide:
        found.setdefault(base.CANNOT_JUDGE, base.CANNOT_JUDGE)
    return found


def _drops_of_chosen(file: ProtocolFile) -> dict[str, str]:
    """Return why an image chosen by an earlier stage drops the item: it is stored as the candidate it was, but the
    file's rules use the role it fills.
    """
    stands_for = value_of(file, f"{_CHOSEN}-0") if is_plain(file) else ""
    found = [_dropped_by(file, rule).get(stands_for) for rule in file.decide]
    return {_CHOSEN: found[0]} if found and found[0] else {}


def _dropped_by(file: ProtocolFile, rule: schema.Decision) -> dict[str, str]:
    if isinstance(rule, schema.Agreement):
        return {f"below {exact(rule.at_least)}": rule.below}
    if isinstance(rule, schema.Mean | schema.Median):
        answer = file.answer(rule.answer)
        below = [] if rule.at_least is None else [f"below {exact(rule.at_least)}"]
        if isinstance(answer, schema.Scale) and rule.at_least is not None and not is_typed(answer):
            below = [one for one in values.points(answer) if float(one) < rule.at_least]
        return dict.fromkeys(below, rule.below) | dict.fromkeys(values.fixed_of(answer), rule.no_value)
    return dict(getattr(rule, "drop", {}))


def _labels_of(file: ProtocolFile, value: str) -> list[str]:
    """Return the stored forms of a table's value: a fixed answer as it is, a role as its captions or images."""
    if value in fixed_values(file) or value in (base.CANNOT_JUDGE, values.ELSE):
        return [value]
    kinds = {role.partition(".")[0] for role in file.roles if role.partition(".")[2] == values.role_of(value)}
    return [f"{base.CAPTION_PREFIX if kind != 'images' else ''}{value}" for kind in sorted(kinds)]


def _form(file: ProtocolFile, layout: _Layout | None) -> base.Form:
    marks_pictures = any(isinstance(one, schema.Points | schema.Boxes) for one in file.answers)
    return base.Form(
        parse=partial(answers.parse, file),
        fill=partial(answers.fill, file),
        simulate=partial(simulated.simulate, file),
        describe=partial(answers.in_words, file),
        describe_fields=partial(answers.fields_in_words, file),
        script=layout.script if layout else MARKS if marks_pictures else SCRIPT,
        style=layout.style if layout else STYLE,
        keys=_keys_of_ties(file) + layout.keys if layout else _keys(file),
        labels=partial(labels_listed, file) if lists_labels(file) else None,
        zooms=any(role.startswith("images.") for role in file.roles),
    )


def _keys_of_ties(file: ProtocolFile) -> tuple[tuple[str, str], ...]:
    """Return the keys of comparisons whose layout has one line for both."""
    given = (one for of_answer in given_keys(file).values() for one in of_answer)
    ties = {" ".join(one.keys).upper() for one in given if one.identity == values.TIE}
    return tuple((keys, _TIE) for keys in sorted(ties))


_HELP = {
    schema.Check: [("Y N", gettext_noop("answer yes or no to the marked statement"))],
    schema.Words: [("← →", gettext_noop("go from word to word"))],
    schema.Points: [("M", gettext_noop("mark the picture"))],
    schema.Boxes: [("M", gettext_noop("mark the picture"))],
    schema.Text: [("E", gettext_noop("write your answer")), ("Esc", gettext_noop("stop writing"))],
    schema.Edit: [("E", gettext_noop("edit the text")), ("Esc", gettext_noop("stop writing"))],
}


_TYPED = [("0 – 9", gettext_noop("type a number"))]
_SLIDER = ("E", gettext_noop("go to the slider, which arrow keys move"))


def _keys(file: ProtocolFile) -> tuple[tuple[str, str], ...]:
    """Return what the keys do on this screen, for the help."""
    several = len(file.answers) > 1 or isinstance(file.answers[0], schema.Check | schema.Rank)
    found = [("↑ ↓", gettext_noop("mark what is above or below"))] if several else []
    given = given_keys(file)
    for one in file.answers:
        points: list[str] = []
        if is_typed(one):
            found += _TYPED if isinstance(one, schema.Number) else [*_TYPED, _SLIDER]
        elif points := values.points(one) if isinstance(one, schema.Scale) else []:
            press = " ".join(of.keys[0].upper() for of in given[one.name] if of.identity in points)
            found.append((press, gettext_noop("answer what is marked")))
        elif _options(one, file):
            found.append(("1 – 9", gettext_noop("answer what is marked")))
        found += _HELP.get(type(one), [])
        found += [(of.keys[0].upper(), of.label) for of in given[one.name] if of.identity not in points]
    return tuple(dict.fromkeys([*found, *_keys_of_long(file)]))
