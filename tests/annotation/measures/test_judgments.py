"""The columns of judgments say what their rows say."""

from annotation.measures.judgments import JudgmentRow, Judgments

ROWS = [
    JudgmentRow((2, "", 1), "judge", True, "swap", "obj", 1, 7, "none", None, 4, 900, True, False, False, 5),
    JudgmentRow((1, "b", 1), "check", True, "add", "att", 2, 3, "candidate-1", 2, 4, 800, True, False, False, 6),
    JudgmentRow((1, "a", 2), "judge", False, "swap", "att", 1, 7, "candidate-0", 1, 3, 700, False, True, True, 7),
]


def test_the_columns_give_the_same_rows():
    assert list(Judgments.of(ROWS)) == ROWS
    assert list(Judgments.of([])) == []


def test_tasks_are_coded_in_their_order():
    task = Judgments.of(ROWS).task
    assert task.values == [(1, "a", 2), (1, "b", 1), (2, "", 1)] and task.code.tolist() == [2, 1, 0]


def test_some_judgments_are_those_of_a_mask_or_of_an_annotator():
    given = Judgments.of(ROWS)
    assert list(given[given.is_judge]) == [ROWS[0], ROWS[2]]
    assert {number: list(mine) for number, mine in given.by_annotator().items()} == {
        3: [ROWS[1]],
        7: [ROWS[0], ROWS[2]],
    }


def test_ratings_have_only_what_occurs():
    ratings = Judgments.of(ROWS)[1:].ratings()
    assert ratings.items == [(1, "a", 2), (1, "b", 1)] and ratings.labels == ["candidate-0", "candidate-1"]
    assert ratings.annotators == [3, 7] and ratings.annotator.tolist() == [0, 1]


def test_only_answers_that_occur_are_renamed():
    renamed = Judgments.of(ROWS)[1:].answer.renamed({"candidate-0": "any", "candidate-1": "any"}.__getitem__)
    assert renamed.values == ["any"] and renamed.code.tolist() == [0, 0]
