"""Convert what a protocol file's screen sends to the stored answer and back, and to words.

The page identifies options by their place on the screen. A stored label has the answers in the file's order, separated
by `/`: `positive/4`. A question that was not asked, or an optional one left open, is empty. For free texts the label
shows only whether there is a text; the words are in the content.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

from annotation.protocols import base, edits, marks, numbers, option_sets, rankings, schema, values
from annotation.protocols.conditions import Never, depends_on_items
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.values import NO, UNSURE, YES
from annotation.wording import gettext_noop
from benchmarks.naming import part_name

PARTING = "/"
WRITTEN, UNCHANGED, EDITED = "written", "unchanged", "edited"
_MISSING = gettext_noop("Answer this question: %(question)s")
_NOT_AN_ANSWER = gettext_noop("That is not one of the answers on this screen.")
_SHORT = gettext_noop("Write at least %(characters)s characters.")
_LONG = gettext_noop("Write at most %(characters)s characters.")
_FEW_MARKS = gettext_noop("Marks still to be set, at least: %(count)s.")
_MANY_MARKS = gettext_noop("There can be at most %(count)s marks.")
_OUTSIDE = gettext_noop("A mark is outside the picture.")
_SAID = gettext_noop("%(question)s %(answer)s")
_ORDER = gettext_noop("Your order: %(order)s")
_MARKED = gettext_noop("Marked words: %(words)s")
_YES_OR_NO = {YES: gettext_noop("Yes"), NO: gettext_noop("No"), UNSURE: gettext_noop("Not sure")}
LETTERS = "ABCDEFGHI"  # names of ranked pictures and texts on screen, since their ranks are numbers
_TIED = gettext_noop("Give each a rank of its own.")
_TOO_FEW = gettext_noop("Choose at least %(number)s. You have chosen %(chosen)s.")
_TOO_MANY = gettext_noop("Choose at most %(number)s. You have chosen %(chosen)s.")
_NOT_SO_MANY = gettext_noop("Choose exactly %(number)s. You have chosen %(chosen)s.")
_APART = gettext_noop("“%(answer)s” cannot be chosen with others.")


def parts_of(label: str, protocol: ProtocolFile) -> dict[str, str]:
    """Return the parts of a stored label by answer. *Cannot judge* has no parts."""
    names = [one.name for one in protocol.answers]
    if label == base.CANNOT_JUDGE:
        return {}
    return dict(zip(names, label.split(PARTING), strict=True)) if len(names) > 1 else {names[0]: label}


def given(label: str, address: str, protocol: ProtocolFile) -> str:
    """Return one answer, or one statement of a check (`holds.same`); "" if it was not given."""
    name, _, statement = address.partition(".")
    said = parts_of(label, protocol).get(name, "")
    if not statement or not said:
        return said
    return _by_statement(protocol, name, said)[statement]


def _by_statement(protocol: ProtocolFile, name: str, said: str) -> dict[str, str]:
    """Return answers by statement, in a check with its own statements."""
    return dict(zip(protocol.answer(name).statements, said.split(","), strict=True))


def is_asked(answer: schema.Answer, so_far: Mapping[str, str], protocol: ProtocolFile) -> bool:
    """Return whether the answers so far (by name) lead to this question; for a file that is not yet bound to an item
    (`conditions.about`), whether it may be asked.
    """
    if answer.when is None:
        return True
    if isinstance(answer.when, Never):
        return False

    def met(address: str, wanted: Sequence[str]) -> bool:
        name, _, statement = address.partition(".")
        said = so_far.get(name, "")
        if statement and said:
            said = _by_statement(protocol, name, said)[statement]
        one = protocol.answer(name)
        given = option_sets.chosen(said) if isinstance(one, schema.Pick) and one.many else [said]
        return any(values.in_table(value, wanted) in wanted for value in given)

    return all(met(*one) for one in answer.when.all.items()) and (
        not answer.when.any or any(met(*one) for one in answer.when.any.items())
    )


def parse(
    protocol: ProtocolFile, sent: base.SubmittedFields, shown: Sequence[str], texts: base.TextsByIdentity,
    question: str = "",
) -> base.Answer:  # fmt: skip
    """Return the answer in the submitted fields of a task called `question`. Raises InvalidAnswer."""
    found: dict[str, str] = {}
    words: dict[str, str] = {}
    for answer in protocol.answers:
        if not is_asked(answer, found, protocol) or asks_nothing(answer, texts):
            found[answer.name] = ""
            continue
        said = parse_one(protocol, answer, sent, shown, texts, question, words)
        if not said and answer.required and not depends_on_items(answer):
            raise base.InvalidAnswer(_MISSING, question=answer.ask or protocol.ask)
        found[answer.name] = said
    content = base.AnswerContent(texts=words) if words else base.AnswerContent()
    return base.Answer(PARTING.join(found.values()), content)


def parse_one(
    protocol: ProtocolFile, answer: schema.Answer, sent: base.SubmittedFields, shown: Sequence[str],
    texts: base.TextsByIdentity, question: str, words: dict[str, str],
) -> str:  # fmt: skip
    """Return the answer's part of the label, "" if nothing was given. Any text written is put into `words`."""
    name = answer.name
    match answer:
        case schema.Pick(many=False) | schema.Pair():
            return _named(protocol, answer, sent[name], shown) if sent.get(name) else ""
        case schema.Pick():
            return _several(protocol, answer, sent, shown)
        case schema.Scale() | schema.Number() if numbers.is_typed(answer):
            typed = sent.get(f"{name}-{numbers.FIELD}", "").strip()
            return numbers.checked(answer, typed) if typed else _one_of(values.fixed_of(answer), sent.get(name, ""))
        case schema.Scale():
            return _one_of([*values.points(answer), *values.fixed_of(answer)], sent.get(name, ""))
        case schema.Rank():
            return _ranking(protocol, answer, sent, shown)
        case schema.Check():
            return _checked(answer, sent, statements_of(answer, texts))
        case schema.Words():
            return _marked(answer, sent, text_of(protocol, answer, texts, question))
        case schema.Points() | schema.Boxes():
            return _marks(answer, sent.get(name, ""))
        case schema.Text():
            return WRITTEN if _written(sent, name, words, answer.shortest, answer.longest) else ""
        case schema.Edit():
            typed = _written(sent, name, words, 1, answer.longest)
            same = typed == _cleaned(text_of(protocol, answer, texts, question))
            return "" if not typed else UNCHANGED if same else EDITED
    raise AssertionError(answer)


def _written(sent: base.SubmittedFields, name: str, words: dict[str, str], shortest: int, longest: int) -> str:
    """Return what was typed, "" for nothing, and put it into `words`."""
    if typed := _cleaned(sent.get(name, "")):
        _fits(typed, shortest, longest)
        words[name] = typed
    return typed


def _cleaned(typed: str) -> str:
    return "\n".join(map(edits.one_line, typed.strip().splitlines()))


def _fits(typed: str, shortest: int, longest: int) -> None:
    if len(typed) < shortest:
        raise base.InvalidAnswer(_SHORT, characters=f"{shortest:,}")
    if len(typed) > longest:
        raise base.InvalidAnswer(_LONG, characters=f"{longest:,}")


def _one_of(known: Iterable[str], sent: str) -> str:
    if sent and sent not in known:
        raise base.InvalidAnswer(_NOT_AN_ANSWER)
    return sent


Choosing = schema.Pick | schema.Rank | schema.Pair


def option_names(protocol: ProtocolFile, answer: Choosing, shown: Sequence[str]) -> dict[str, str]:
    """Return the names of the answer's options by identity, in the order shown; places count from 1.

    An image chosen by an earlier stage has the name of the role it fills.
    """
    if answer.of == "pair":
        return {one: values.option_name(protocol, one) for one in shown}
    roles = {role: [one for one in shown if _has_role(one, role)] for role in answer.of}
    own = {one: values.option_name(protocol, one) for found in roles.values() for one in found}
    chosen = [one for one in shown if not one.startswith(base.CAPTION_PREFIX) and not _is_known(protocol, one)]
    empty = [role for role, found in roles.items() if role.startswith("images.") and not found]
    own |= {one: role.partition(".")[2] for one, role in zip(chosen, empty, strict=False)}
    return {one: own[one] for one in shown if one in own}


def _has_role(identity: str, role: str) -> bool:
    kind, _, name = role.partition(".")
    is_text = identity.startswith(base.CAPTION_PREFIX)
    return is_text == (kind != "images") and values.role_of(identity.removeprefix(base.CAPTION_PREFIX)) == name


def _is_known(protocol: ProtocolFile, image: str) -> bool:
    return f"images.{values.role_of(image)}" in protocol.roles


def choices_of(protocol: ProtocolFile, answer: schema.Pick | schema.Pair, shown: Sequence[str]) -> list[str]:
    """Return what the page can send: places, and fixed answers."""
    return [*map(str, range(1, len(option_names(protocol, answer, shown)) + 1)), *values.fixed_of(answer)]


def _named(protocol: ProtocolFile, answer: schema.Pick | schema.Pair, sent: str, shown: Sequence[str]) -> str:
    _one_of(choices_of(protocol, answer, shown), sent)
    return [*option_names(protocol, answer, shown).values()][int(sent) - 1] if sent.isdecimal() else sent


def _several(protocol: ProtocolFile, answer: schema.Pick, sent: base.SubmittedFields, shown: Sequence[str]) -> str:
    """Return the chosen options, "" if none. Raises InvalidAnswer if they may not be chosen together."""
    prefix = f"{answer.name}-"
    known = choices_of(protocol, answer, shown)
    ticked = [_one_of(known, field.removeprefix(prefix)) for field in sent if field.startswith(prefix)]
    if not ticked:
        return ""
    options = frozenset(_named(protocol, answer, one, shown) for one in ticked)
    if not option_sets.is_allowed(answer, options):
        if option_sets.NONE in options and option_sets.NONE in answer.fixed:
            raise base.InvalidAnswer(_APART, answer=answer.fixed[option_sets.NONE].label)
        least, most = option_sets.limits(answer)
        few = len(options) < least
        lacks = _NOT_SO_MANY if least == most else _TOO_FEW if few else _TOO_MANY
        raise base.InvalidAnswer(lacks, number=str(least if few else most), chosen=str(len(options)))
    names = list(option_names(protocol, answer, shown).values())
    return option_sets.with_counts(protocol, answer, options, names)


def _ranking(protocol: ProtocolFile, answer: schema.Rank, sent: base.SubmittedFields, shown: Sequence[str]) -> str:
    """Return `positive=second_positive>negative`, each tier in the file's order. Empty steps leave no trace."""
    names = list(option_names(protocol, answer, shown).values())
    steps = {name: sent.get(f"{answer.name}-{place}", "") for place, name in enumerate(names, 1)}
    if not all(steps.values()):
        return ""
    ranks = list(map(str, range(1, len(names) + 1)))
    for step in steps.values():
        _one_of(ranks, step)
    used = sorted(set(steps.values()), key=int)
    if not answer.ties and len(used) < len(steps):
        raise base.InvalidAnswer(_TIED)
    in_file = [name for role in answer.of for name in values.member_names(protocol, role)]
    tiers = [[name for name in in_file if steps.get(name) == step] for step in used]
    return ">".join("=".join(tier) for tier in tiers)


def statements_of(answer: schema.Check, texts: Iterable[str]) -> list[str]:
    """Return the names of a check's fields: its statements, or the places of a list."""
    if answer.statements:
        return list(answer.statements)
    role = str(answer.of).partition(".")[2]
    count = sum(base.caption_role(identity) == role for identity in texts)
    return [str(place) for place in range(1, count + 1)]


def asks_nothing(answer: schema.Answer, texts: Iterable[str]) -> bool:
    """Return whether the answer is about texts that the item lacks: a check of an empty list."""
    return isinstance(answer, schema.Check) and not statements_of(answer, texts)


def _checked(answer: schema.Check, sent: base.SubmittedFields, statements: Sequence[str]) -> str:
    known = [YES, NO, UNSURE] if answer.unsure else [YES, NO]
    said = [_one_of(known, sent.get(f"{answer.name}-{one}", "")) for one in statements]
    if not any(said):
        return ""
    if not all(said):
        missing = next(one for one, value in zip(statements, said, strict=True) if not value)
        raise base.InvalidAnswer(_MISSING, question=answer.statements.get(missing, missing))
    return ",".join(said)


def _marked(answer: schema.Words, sent: base.SubmittedFields, text: str) -> str:
    """Return `9;3:unsure,7:not`: of nine words, counted from 1, two are marked. The page has a field for each word, and
    one named `unmarked`, which answers the question even if no word is marked.
    """
    prefix, count = f"{answer.name}-", len(text.split())
    marks = {field.removeprefix(prefix): mark for field, mark in sent.items() if field.startswith(prefix) and mark}
    places = dict.fromkeys(map(str, range(1, count + 1)))
    if not places.keys() >= marks.keys() or not answer.marks.keys() >= set(marks.values()):
        raise base.InvalidAnswer(_NOT_AN_ANSWER)
    if not marks and not _one_of([answer.unmarked], sent.get(answer.name, "")):
        return ""
    return f"{count};" + ",".join(f"{place}:{marks[place]}" for place in sorted(marks, key=int))


def _marks(answer: schema.Points | schema.Boxes, sent: str) -> str:
    """Return `1200:3400,5000:6100` (protocols/marks.py), or `none`, which the page sends if marks are optional."""
    try:
        found = marks.read(answer.kind, sent, answer.labels)
    except marks.NotMarks as error:
        raise base.InvalidAnswer(_OUTSIDE if str(error) == marks.OUTSIDE else _NOT_AN_ANSWER) from None
    if len(found) > answer.most:
        raise base.InvalidAnswer(_MANY_MARKS, count=str(answer.most))
    if sent and len(found) < answer.least:
        raise base.InvalidAnswer(_FEW_MARKS, count=str(answer.least - len(found)))
    return marks.written(found) if sent else ""


def text_of(
    protocol: ProtocolFile, answer: schema.Words | schema.Edit, texts: base.TextsByIdentity, question: str
) -> str:
    """Return the text that is marked or edited in the task with that question."""
    return texts.get(text_identity(protocol, answer, texts, question), "")


def text_identity(
    protocol: ProtocolFile, answer: schema.Words | schema.Edit, texts: Iterable[str], question: str
) -> str:
    """Return the identity of the text that is marked or edited in the task with that question; "" if none is."""
    wanted = answer.of.partition(".")[2]
    match protocol.tasks:
        case schema.Each(each=each) if answer.of in each:
            wanted = question.split(PARTING)[list(each).index(answer.of)]
        case schema.Rows(rows=rows) if answer.of in rows.get(question, {}):
            wanted = rows[question][answer.of].partition(".")[2]
    names = {values.option_name(protocol, one): one for one in reversed(list(texts))}
    return names.get(wanted) or names.get(f"{wanted}-0", "")


def fill(protocol: ProtocolFile, answer: base.Answer, shown: Sequence[str]) -> dict[str, str]:
    """Invert `parse`, for a screen that is shown again."""
    found: dict[str, str] = {}
    for name, said in parts_of(answer.label, protocol).items():
        one = protocol.answer(name)
        if not said:
            continue
        match one:
            case schema.Pick(many=False) | schema.Pair():
                found[name] = _place(protocol, one, said, shown)
            case schema.Pick():
                chosen = sorted(option_sets.chosen(said))
                found |= {f"{name}-{_place(protocol, one, value, shown)}": "1" for value in chosen}
            case schema.Rank():
                steps = {option: str(step) for step, tier in enumerate(rankings.tiers(said), 1) for option in tier}
                named = option_names(protocol, one, shown).values()
                found |= {f"{name}-{place}": steps[option] for place, option in enumerate(named, 1)}
            case schema.Check():
                keys = list(one.statements) or [str(place) for place in range(1, said.count(",") + 2)]
                found |= {f"{name}-{key}": value for key, value in zip(keys, said.split(","), strict=True)}
            case schema.Text() | schema.Edit():
                found[name] = answer.texts.get(name, "")
            case schema.Scale() | schema.Number() if numbers.is_typed(one) and numbers.is_number(said):
                found[f"{name}-{numbers.FIELD}"] = said
            case schema.Words():
                marked = [mark.split(":") for mark in said.partition(";")[2].split(",") if mark]
                found |= {name: one.unmarked} | {f"{name}-{place}": mark for place, mark in marked}
            case _:
                found[name] = said
    return found


def _place(protocol: ProtocolFile, answer: schema.Pick | schema.Pair, value: str, shown: Sequence[str]) -> str:
    named = list(option_names(protocol, answer, shown).values())
    return str(named.index(value) + 1) if value in named else value


def number(answer: schema.Answer, said: str, parents: Sequence[Sequence[int]] = ()) -> float | None:
    """Return the answer as a number or scale point, or as the share of statements that hold or of unmarked words.

    `parents` has, for each statement, the places (from 1) of those that must be answered yes for it to count: by their
    answers, not by whether they count, as in DSG's own code, so that the list's order does not matter. None if there is
    no number.
    """
    match answer:
        case schema.Scale() | schema.Number() if numbers.is_typed(answer):
            return float(said) if numbers.is_number(said) else None
        case schema.Scale():
            return float(said) if said in values.points(answer) else None
        case schema.Check() if said:
            yes = [one == YES for one in said.split(",")]
            needed = zip(yes, chain(parents, repeat(())), strict=False)
            return sum(one and all(yes[parent - 1] for parent in needs) for one, needs in needed) / len(yes)
        case schema.Words() if said:
            count, _, marked = said.partition(";")
            return 1 - (len(marked.split(",")) if marked else 0) / int(count)
    return None


def right_answer(
    protocol: ProtocolFile, name: str, question: str, of_item: base.Attributes = base.NO_ATTRIBUTES
) -> str:
    """Return an answer's right value, by construction or from its item (item_data.py), or "". A pick of many has its
    right values separated by commas.
    """
    match protocol.right.get(name, ""):
        case str(right):
            return right
        case list(right):
            return option_sets.as_label(right)
        case schema.ByItem():
            return str(of_item.get(base.RIGHT, {}).get(name, ""))
        case by_task:
            return by_task.get(question, "")


def in_words(protocol: ProtocolFile, answer: base.Answer) -> str:
    """Return the answer as managers read it."""
    if answer.label == base.CANNOT_JUDGE:
        return "cannot judge"
    said = []
    for name, value in parts_of(answer.label, protocol).items():
        if value:
            words = f"“{answer.texts[name]}”" if name in answer.texts else value_in_words(protocol.answer(name), value)
            said.append(f"{name}: {words}" if len(protocol.answers) > 1 else words)
    return "; ".join(said)


def value_in_words(answer: schema.Answer, value: str) -> str:
    """Return one answer as managers read it."""
    match answer:
        case schema.Rank():
            return ", then ".join(" and ".join(map(part_in_words, tier)) for tier in rankings.tiers(value))
        case schema.Check(statements=statements) if statements:
            said = zip(statements, value.split(","), strict=True)
            return ", ".join(f"{statement} {one}" for statement, one in said)
        case schema.Scale(anchors=anchors) if value in anchors:
            return f"{value} ({anchors[value]})"
        case schema.Points() | schema.Boxes():
            return _marks_in_words(answer, value)
        case schema.Words():
            marked = [one.split(":") for one in value.partition(";")[2].split(",") if one]
            words = [f"word {place} {answer.marks[mark].label.lower()}" for place, mark in marked]
            return ", ".join(words) or "no word marked"
    fixed, given = values.fixed_of(answer), option_sets.named(value).split(",")
    of = getattr(answer, "of", "")
    names = {one.partition(".")[2]: part_name("captions", one.partition(".")[2]) for one in of if "captions." in one}
    return ", ".join(fixed[one].label if one in fixed else names.get(one) or part_in_words(one) for one in given)


def _marks_in_words(answer: schema.Points | schema.Boxes, value: str) -> str:
    """Return marks in percent of the picture's width and height, from its left and its top."""
    found = marks.read(answer.kind, value, answer.labels)
    said = [" ".join(filter(None, (answer.labels[of].label if of else "", marks.in_percent(at)))) for at, of in found]
    return ", ".join(said) or "–"


def part_in_words(value: str) -> str:
    """Return `candidate 3` for `candidate-2`."""
    role, _, place = value.rpartition("-")
    return f"{role} {int(place) + 1}".replace("_", " ") if role and place.isdecimal() else value.replace("_", " ")


def fields_in_words(
    protocol: ProtocolFile, fields: base.SubmittedFields, options: Sequence[str], shown: Sequence[str]
) -> list[base.Phrase]:
    """Word what `fill` returned for its annotator; `options` are texts or picture names, in the order of `shown`."""
    words = dict(zip(shown, options, strict=True))
    found: list[base.Phrase] = []
    for answer in protocol.answers:
        mine = {name.partition("-")[2]: said for name, said in fields.items() if name.partition("-")[0] == answer.name}
        there = [words[one] for one in option_names(protocol, answer, shown)] if isinstance(answer, Choosing) else []
        found += _answer_in_words(answer, answer.ask or protocol.ask, mine, there)
    return found


def _answer_in_words(
    answer: schema.Answer, asked: str, mine: Mapping[str, str], options: Sequence[str]
) -> list[base.Phrase]:
    """`mine` maps the endings of the fields' names ("", a place or a statement) to their values."""
    fixed = values.fixed_of(answer)
    labels = {str(place): f"“{option}”" for place, option in enumerate(options, 1)}
    labels |= {value: one.label for value, one in fixed.items()}
    match answer:
        case schema.Rank() if mine:
            named = labels if answer.of[0].partition(".")[0] != "images" else dict(zip(labels, LETTERS, strict=False))
            tiers = [[named[place] for place in mine if mine[place] == step] for step in sorted(set(mine.values()))]
            return [(_ORDER, {"order": " > ".join(" = ".join(tier) for tier in tiers)})]
        case schema.Words() if mine:
            marked = [f"{place} ({answer.marks[mark].label})" for place, mark in mine.items() if place]
            return [(_MARKED, {"words": ", ".join(marked) or "–"})]
        case schema.Points() | schema.Boxes():
            said = [(asked, _marks_in_words(answer, one)) for one in mine.values()]
        case schema.Check():
            said = [(answer.statements.get(one, f"{one}."), _YES_OR_NO[value]) for one, value in mine.items()]
        case schema.Pick(many=False) | schema.Pair():
            said = [(asked, labels[one]) for one in mine.values()]
        case schema.Pick():
            said = [(asked, labels[one]) for one in mine]
        case schema.Scale() if not numbers.is_typed(answer):
            said = [(asked, labels.get(one) or answer.anchors.get(one, one)) for one in mine.values()]
        case schema.Scale() | schema.Number():
            said = [(asked, labels.get(one, one)) for one in mine.values() if one]
        case _:
            said = [(asked, f"“{one}”") for one in mine.values()]
    return [(_SAID, {"question": question, "answer": one}) for question, one in said]
