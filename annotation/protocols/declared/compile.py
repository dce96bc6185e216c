"""A protocol file as a protocol that stages ask.

An answer that is one pick (of options, fixed answers or points of a scale) is stored as protocols in Python store
theirs: as the identity of the option. All others are forms, whose labels `answers` describes.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

from annotation.protocols import base
from annotation.protocols.declared import answers, schema, tasks, values
from annotation.protocols.declared.keys import given_keys
from annotation.protocols.declared.measuring import level_of, seen_through
from annotation.protocols.declared.schema import ProtocolFile
from annotation.wording import gettext_noop

GENERIC = "judging/_declared.html"
SCRIPT, STYLE = "js/judging/declared.js", "css/judge-declared.css"
_PICK_PICTURE = ("1 2", gettext_noop("pick a picture"))
_PICK_SENTENCE = ("1 2", gettext_noop("pick a sentence"))


def as_protocol(file: ProtocolFile, name: str) -> base.Protocol:
    """The file as a protocol that is called `name`."""
    form = None if is_plain(file) else _form(file)
    has_pictures = any(role.startswith("images.") for role in file.roles)
    return base.Protocol(
        name=name,
        title=file.title,
        question=file.ask,
        shown=file.shown or _shown(file),
        instructions=(file.instructions, base.PICTURE_CLOSING if has_pictures else base.TEXT_CLOSING),
        template=_template(file),
        tasks=partial(tasks.tasks_of, file),
        fixed=_fixed(file) if form is None else (),
        picks=_picks(file),
        projections=_projections(file),
        drops=_drops(file),
        alike=any(isinstance(one, schema.Pick) and one.alike for one in file.answers),
        measures=all(isinstance(rule, schema.BradleyTerry) for rule in file.decide),
        leaks=frozenset(file.leaks),
        right_answer=partial(_right_answer, file) if file.right and form is None else base.no_right_answer,
        form=form,
        scales=_scales(file),
        file=file,
    )


def is_plain(file: ProtocolFile) -> bool:
    """Whether one pick answers the whole screen."""
    match file.answers:
        case [schema.Pick(many=False) | schema.Pair() | schema.Scale()]:
            return True
    return False


def value_of(file: ProtocolFile, identity: str) -> str:
    """What the file calls a stored answer of a plain protocol: `positive` of `caption-positive-0`.

    An image that an earlier stage chose stands for the role of images, among the options, that has no other name.
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


def _options(answer: schema.Answer, file: ProtocolFile) -> Sequence[str]:
    """The roles whose members an answer chooses among, if it does."""
    if isinstance(answer, schema.Pick | schema.Rank | schema.Pair):
        return values.options_of(file, answer)
    return []


def fixed_values(file: ProtocolFile) -> list[str]:
    """The stored answers of a plain protocol that are no options: points of the scale, and fixed answers."""
    answer = file.answers[0]
    points = values.points(answer) if isinstance(answer, schema.Scale) else []
    return [*points, *values.fixed_of(answer)]


def _fixed(file: ProtocolFile) -> tuple[base.Choice, ...]:
    answer = file.answers[0]
    given = [base.Choice(one.value, one.label, one.keys) for one in given_keys(file)[answer.name]]
    if not isinstance(answer, schema.Scale):
        return tuple(given)
    return (*map(partial(_point, answer), range(len(values.points(answer)))), *given)


def _point(answer: schema.Scale, place: int) -> base.Choice:
    """A point with its words, under the key of its place: 1 to 9, and 0 for the tenth."""
    point = values.points(answer)[place]
    words = answer.anchors.get(point)
    return base.Choice(point, f"{point}: {words}" if words else point, (str((place + 1) % 10),))


def _picks(file: ProtocolFile) -> tuple[str, str]:
    answer = file.answers[0]
    if not is_plain(file):
        return "", ""
    options = _options(answer, file)
    if not options:
        return "", ""
    return _PICK_PICTURE if options[0].startswith("images.") else _PICK_SENTENCE


def _template(file: ProtocolFile) -> str:
    """That of today's screens where the file's is like them, so that they look alike."""
    blocks, answer = file.screen, file.answers[0]
    if not is_plain(file) or any(getattr(block, "label", None) for block in blocks):
        return GENERIC
    kinds = [type(block) for block in blocks]
    options = _options(answer, file)
    images = {role.startswith("images.") for role in options}
    if images == {True} and set(kinds) <= {schema.Sentence}:
        return "judging/_pick_picture.html"
    if images == {False} and kinds == [schema.Picture]:
        return "judging/_pick_sentence.html"
    if not options and sorted(one.__name__ for one in kinds) == ["Picture", "Sentence"]:
        return "judging/_verify.html"
    return GENERIC


_WORDS = {
    schema.Picture: "a picture", schema.Pictures: "several pictures", schema.Sentence: "a text",
    schema.Listed: "several texts", schema.OnRequest: "a picture",
}  # fmt: skip


def _shown(file: ProtocolFile) -> str:
    found = list(dict.fromkeys(_WORDS[type(block)] for block in file.screen))
    options = {
        "several pictures" if role.startswith("images.") else "several texts"
        for one in file.answers
        for role in _options(one, file)
    }  # fmt: skip
    return " and ".join([*found, *sorted(options - set(found))]) or "some material"


def _right_answer(file: ProtocolFile, question: str, options: Sequence[str]) -> str:
    """The option, or the fixed answer, that is right by construction."""
    right = answers.right_answer(file, file.answers[0].name, question)
    if not right or right in fixed_values(file):
        return right
    return next((one for one in options if value_of(file, one) == right), "")


def _projections(file: ProtocolFile) -> dict[str, base.Projection]:
    """A projection for each answer, where there are several, for each view, and each statement that is measured."""
    found: dict[str, base.Projection] = {}
    for answer in file.answers:
        if len(file.answers) > 1:
            found[answer.name] = _on(file, answer.name)
        views = file.measure[answer.name].views if answer.name in file.measure else {}
        for view, table in views.items():
            found[view if view not in found else f"{answer.name}, {view}"] = _on(file, answer.name, table)
    found |= {address: _on(file, address) for address in file.measure if "." in address}
    return found


def _on(file: ProtocolFile, name: str, table: Mapping[str, str] | None = None) -> base.Projection:
    plain = is_plain(file)

    def projection(label: str) -> str:
        if label == base.CANNOT_JUDGE:
            return table.get(label, label) if table else label
        said = value_of(file, label) if plain else answers.given(label, name, file)
        return seen_through(table, said) if table and said else said

    return projection


def _scales(file: ProtocolFile) -> dict[str, base.Scale]:
    found = {}
    for answer in file.answers:
        level = level_of(file, answer.name)
        if level not in ("", base.NOMINAL):
            order = tuple(values.points(answer)) if isinstance(answer, schema.Scale) else ()
            found[answer.name if len(file.answers) > 1 else "answer"] = base.Scale(level, order)
    return found


def _drops(file: ProtocolFile) -> dict[str, str]:
    """Stored answer, or its role → why it alone would drop the item. Of a form: answer and value."""
    plain = is_plain(file)
    found: dict[str, str] = {}
    for rule in file.decide:
        for value, why in _dropped_by(file, rule).items():
            for label in _labels_of(file, value) if plain else [f"{rule.answer} {value}"]:
                found.setdefault(label, why)
    if plain and file.decide:
        found.setdefault(base.CANNOT_JUDGE, base.CANNOT_JUDGE)
    return found


def _dropped_by(file: ProtocolFile, rule: schema.Decision) -> dict[str, str]:
    if isinstance(rule, schema.Mean | schema.Median):
        answer = file.answer(rule.answer)
        below = [one for one in values.points(answer) if float(one) < rule.at_least] if isinstance(
            answer, schema.Scale
        ) else [f"below {rule.at_least:g}"]  # fmt: skip
        return dict.fromkeys(below, rule.below) | dict.fromkeys(values.fixed_of(answer), rule.no_value)
    return dict(getattr(rule, "drop", {}))


def _labels_of(file: ProtocolFile, value: str) -> list[str]:
    """What a value of a table is stored as: a fixed answer as it is, a role as those of its captions or images."""
    if value in fixed_values(file) or value in (base.CANNOT_JUDGE, values.ELSE):
        return [value]
    kinds = {role.partition(".")[0] for role in file.roles if role.partition(".")[2] == values.role_of(value)}
    return [f"{base.CAPTION_PREFIX if kind != 'images' else ''}{value}" for kind in sorted(kinds)]


def _form(file: ProtocolFile) -> base.Form:
    def parse(
        sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity, question: str
    ) -> base.Answer:
        return answers.parse(file, sent, shown, texts, question)

    keys = [(key, label) for key, label in _form_keys(file)]
    return base.Form(
        parse=parse,
        fill=partial(answers.fill, file),
        simulate=partial(answers.simulate, file),
        describe=partial(answers.in_words, file),
        describe_fields=partial(answers.fields_in_words, file),
        script=SCRIPT,
        style=STYLE,
        keys=tuple(keys),
        zooms=any(role.startswith("images.") for role in file.roles),
    )


def _form_keys(file: ProtocolFile) -> list[tuple[str, str]]:
    """The fixed answers' keys, for the help."""
    return [(one.keys[0].upper(), one.label) for one in chain.from_iterable(given_keys(file).values())]
