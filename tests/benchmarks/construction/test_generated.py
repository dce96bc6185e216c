"""What a language model's answers must look like to count, and what is dropped after parsing."""

import pytest

from benchmarks.construction import generated, prompts
from benchmarks.construction.batch import Dropped
from benchmarks.construction.generated import Cleaner, parse, simple_words, top_share
from benchmarks.construction.prompts import KINDS

CAPTION = "A man and a dog near a red car"
GOOD = "Chosen: dog\nNew: cat\nNew caption: A man and a cat near a red car."


def reason(kind: str, caption: str, answer: str, finish: str = "stop") -> str:
    with pytest.raises(Dropped) as dropped:
        parse(KINDS[kind], caption, answer, finish)
    return dropped.value.reason


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_example_of_a_prompt_is_an_answer_that_counts(kind):
    """Or an honest “none”, of which a prompt shows at most one."""
    nothing = 0
    for example in kind.examples:
        answer = "\n".join(kind.answer_lines(example))
        assert not kind.ineligible(example[0])
        if example[-1] == "none":
            nothing += 1
            assert reason(kind.name, example[0], answer) == generated.NOTHING_FOUND
        else:
            made = parse(kind, example[0], answer)
            assert Cleaner().check(kind, made.text, [example[0]]) == ""
    assert nothing <= 1
    assert len(kind.examples) >= (7 if kind.role == "negative" else 4)
    assert kind.template.count(prompts.PLACEHOLDER) == 1


def test_the_kinds_are_sugarcrepes_seven_and_three_of_positives():
    negatives = {(kind.type, kind.subtype) for kind in KINDS.values() if kind.role == "negative"}
    assert negatives == {
        *(("replace", one) for one in ("obj", "att", "rel")),
        *((way, one) for way in ("swap", "add") for one in ("obj", "att")),
    }
    assert sum(kind.role == "second_positive" for kind in KINDS.values()) == 5


@pytest.mark.parametrize(
    ("answer", "finish", "expected"),
    [
        ("", "stop", generated.EMPTY),
        (" \n", "stop", generated.EMPTY),
        (GOOD, "length", generated.CUT_OFF),
        (GOOD, "content_filter", generated.DECLINED),
        (f"Sure! Here it is:\n{GOOD}", "stop", generated.OTHER_TEXT),
        (f"```\n{GOOD}\n```", "stop", generated.OTHER_TEXT),
        (f"{GOOD}\nI hope this helps.", "stop", generated.OTHER_TEXT),
        (GOOD.replace("New caption:", "Caption:"), "stop", generated.OTHER_TEXT),
        ("Chosen: dog\nNew: cat", "stop", generated.LINE_MISSING),
        ("Chosen: dog\nNew:\nNew caption: A man and a cat near a red car.", "stop", generated.LINE_MISSING),
        (f"{GOOD}\nNew: cat", "stop", generated.LINE_AGAIN),
        ("New: cat\nChosen: dog\nNew caption: A man and a cat near a red car.", "stop", generated.LINE_AGAIN),
        ("Chosen: none\nNew: none\nNew caption: none", "stop", generated.NOTHING_FOUND),
        (GOOD.replace("dog", "horse"), "stop", generated.NOT_IN_CAPTION),
        (GOOD.replace("cat", "man"), "stop", generated.NOT_NEW),
        (GOOD.replace("cat", "car"), "stop", generated.NOT_NEW),
        (GOOD.replace("New: cat", "New: no dog").replace("a cat", "no dog"), "stop", generated.NEGATION),
        (GOOD.replace("red", "blue"), "stop", generated.OTHER_WORDS),
        (GOOD.replace("a cat near", "near"), "stop", generated.OTHER_WORDS),
        ("Chosen: dog\nNew: cat\nNew caption: A man and dogs near the red car.", "stop", generated.UNCHANGED),
        (f"Chosen: dog\nNew: cat\nNew caption: {'A cat. ' * 200}", "stop", generated.TOO_LONG),
    ],
)
def test_an_answer_that_breaks_the_template_is_dropped_with_its_reason(answer, finish, expected):
    assert reason("replace-obj", CAPTION, answer, finish) == expected


def test_articles_and_verbs_may_follow_the_noun():
    made = parse(
        KINDS["replace-obj"], "A dog is on the mat", "Chosen: dog\nNew: owls\nNew caption: Owls are on the mat."
    )
    assert made == generated.Parsed("Owls are on the mat.", {"Chosen": "dog", "New": "owls"})


@pytest.mark.parametrize(
    ("kind", "caption", "answer", "expected"),
    [
        ("swap-obj", CAPTION, "Possible: maybe|First: man|Second: dog|New caption: A dog and a man near a red car.",
         generated.NOT_YES_OR_NO),
        ("swap-obj", CAPTION, "Possible: no|First: man|Second: dog|New caption: A dog and a man near a red car.",
         generated.NOTHING_FOUND),
        ("swap-obj", CAPTION, "Possible: yes|First: man|Second: cow|New caption: A cow and a man near a red car.",
         generated.NOT_IN_CAPTION),
        ("swap-obj", CAPTION, "Possible: yes|First: man|Second: car|New caption: A car and a man near a red dog.",
         generated.OTHER_WORDS),
        ("swap-obj", CAPTION, "Possible: yes|First: dog|Second: dog|New caption: A dog and a man near a red car.",
         generated.NOT_IN_CAPTION),
        ("positive-swap", "A man near a car and a dog", "Possible: yes|First: man|Second: dog|"
         "New caption: A dog near a car and a man.", generated.NOT_AROUND_AND),
        ("add-att", CAPTION, "Chosen: dog|New: big|New caption: A big man and a dog.", generated.OTHER_WORDS),
        ("add-obj", CAPTION, "Chosen: dog|New: cat|New caption: A man and a dog near a red car.", generated.UNCHANGED),
        ("add-obj", CAPTION, "Chosen: dog|New: cat|New caption: A man and a dog and an owl near a red car.",
         generated.OTHER_WORDS),
        ("add-att", CAPTION, "Chosen: cow|New: big|New caption: A man and a big dog near a red car.",
         generated.NOT_IN_CAPTION),
        ("second-positive", CAPTION, "Idea: same|New caption: The man and the dog near the red car.",
         generated.UNCHANGED),
    ],
)  # fmt: skip
def test_each_kind_has_its_own_rule(kind, caption, answer, expected):
    assert reason(kind, caption, answer.replace("|", "\n")) == expected


@pytest.mark.parametrize(
    ("caption", "why"),
    [
        ("A man near a dog", "no “and”"),
        ("sand on a hand", "no “and”"),
        ("a " * 12 + "b and c", "more than 14 words"),
        ("a " * 11 + "b and c", ""),
    ],
)
def test_swaps_around_and_need_an_and_and_fewer_than_fifteen_words(caption, why):
    found = KINDS["positive-swap"].ineligible(caption)
    assert why in found and bool(why) == bool(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A cat on a mat.", ""),
        ("He says “stop!”", ""),
        ("Is a cat on a mat?", generated.QUESTION),
        ("A cat on a mat", generated.NO_FINAL_STOP),
        ("A cat on a mat,", generated.NO_FINAL_STOP),
        ("The dogs are on the mat.", generated.TRUE_CAPTION),
        ("The bird on the mats!", generated.DUPLICATE),
    ],
)
def test_questions_missing_stops_and_near_duplicates_are_dropped(text, expected):
    cleaner, kind = Cleaner(), KINDS["replace-obj"]
    assert cleaner.check(kind, "A bird on a mat.", ["A dog on a mat"]) == ""
    assert cleaner.check(kind, text, ["A dog on a mat"]) == expected


def test_two_items_may_have_the_same_second_positive():
    cleaner = Cleaner()
    assert [cleaner.check(KINDS["second-positive"], "A bird.", []) for _ in "ab"] == ["", ""]


def test_near_duplicates_differ_only_in_grammar():
    assert simple_words("The cats are on a bench!") == simple_words("a cat on the benches")
    assert simple_words("A cat on a dog.") != simple_words("A dog on a cat.")


def test_the_top_share_rounds_down_and_keeps_the_earlier_of_equals():
    assert top_share([0.2, 0.9, 0.9, 0.1], 0.5) == {1, 2}
    assert top_share([0.5, 0.5, 0.5], 0.35) == {0}
    assert top_share([0.5] * 20, 0.35) == set(range(7))
    with pytest.raises(ValueError, match="greater than 0"):
        top_share([0.5], 0)
    assert generated.combined(0.4, 0.8) == pytest.approx(0.6)
    assert generated.combined(None, 0.8) == 0.8


@pytest.mark.parametrize("text", ["Change the caption.", "{caption} {caption}"])
def test_a_prompt_names_the_caption_once(text):
    with pytest.raises(prompts.PromptWrong, match="exactly once"):
        prompts.checked_template(text)
    assert "{" not in str(prompts.messages("Change {caption} now.", "a {cat}")[1]["content"]).replace("{cat}", "")


@pytest.mark.parametrize("example", prompts.EXAMPLES["check"])
def test_a_check_keeps_a_second_positive_or_replaces_it(example):
    caption, second, verdict, text = example
    answer = f"Consistent: {verdict}\nCaption: {text}"
    assert generated.parse_check(caption, second, answer) == (second if verdict == "yes" else text)
    asked = str(prompts.check_messages(caption, second)[1]["content"])
    assert asked.endswith(f"Original: {caption}\nParaphrase: {second}") and "{" not in asked


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Consistent: perhaps\nCaption: A mug.", generated.NOT_YES_OR_NO),
        ("Consistent: yes\nCaption: A mug.", generated.CHECK_DIFFERS),
        ("Consistent: no\nCaption: The cup.", generated.UNCHANGED),
        ("Yes.", generated.OTHER_TEXT),
        ("Consistent: no", generated.LINE_MISSING),
    ],
)
def test_a_check_must_follow_its_template_too(answer, expected):
    with pytest.raises(Dropped) as dropped:
        generated.parse_check("A cup", "There is a cup.", answer)
    assert dropped.value.reason == expected
