"""Annotators who copy a model's answers: the test's exactness, and how well it tells them from others."""

from itertools import combinations

import numpy as np
import pytest

from annotation.measures.copied_answers import LEVEL, Given, followed, suspects


def test_the_probability_is_that_of_all_permutations_of_the_model_within_the_strata():
    """24 tasks in two strata: by every way in which the model could be wrong as often in each. The two others have too
    few tasks to show mistakes that all share with the model.
    """
    dice = np.random.default_rng(3)
    own, other, model = dice.random(24) < 0.6, np.arange(24) < 12, dice.random(24) < 0.5
    given = [Given(task, 1, bool(own[task])) for task in range(24)] + [
        Given(task, 2 if task < 12 else 3, bool(other[task])) for task in range(24)
    ]
    [found] = [
        one for one in followed(given, {"m": {task: bool(model[task]) for task in range(24)}}) if one.annotator == 1
    ]
    ways = []
    for stratum in (range(12), range(12, 24)):
        wrong = sum(not model[task] for task in stratum)
        ways.append([sum(not own[task] for task in chosen) for chosen in combinations(stratum, wrong)])
    sums = np.add.outer(*map(np.array, ways))
    both = int((~own & ~model).sum())
    assert (found.both, found.model_wrong) == (both, int((~model).sum()))
    assert found.p == pytest.approx((sums >= both).mean()) and found.expected == pytest.approx(sums.mean())


def simulated(dice, people=50, tasks=1700, copiers=0.1, copying=0.8, shared=False):
    """Three judge a task, 102 tasks each; items differ in difficulty, and people too. Results, and who copies.
    `shared`: the model errs on what is hard for people.
    """
    hard = dice.beta(1, 9, tasks)
    model = dice.random(tasks) >= 0.25 * (np.minimum(hard / hard.mean(), 3.5) if shared else 1)
    errors = dice.uniform(0.3, 2, people)
    copies = np.arange(people) < people * copiers
    given = []
    for task in range(tasks):
        for who in dice.choice(people, 3, replace=False):
            own = dice.random() >= min(0.9, hard[task] * errors[who])
            given.append(Given(task, int(who), bool(model[task] if copies[who] and dice.random() < copying else own)))
    return followed(given, {"CLIP": dict(enumerate(model.tolist()))}), copies


def test_copiers_are_told_from_others_and_few_others_get_a_sign():
    dice, copied, alone, signs = np.random.default_rng(5), [], [], 0
    for _ in range(6):
        found, copies = simulated(dice)
        for one in found:
            (copied if copies[one.annotator] else alone).append(one.p)
        signs += sum(not copies[one.annotator] for one in suspects(found, 1))
    area = (np.array(copied)[:, None] < np.array(alone)).mean()
    assert (len(copied), len(alone)) == (30, 270)
    assert area >= 0.95 and np.mean(np.array(copied) <= LEVEL) >= 0.9
    assert signs / len(alone) <= LEVEL + 2.6 * np.sqrt(LEVEL * (1 - LEVEL) / len(alone))


def test_mistakes_that_all_share_with_a_model_are_no_sign():
    """Without the common odds ratio, every ninth would get one."""
    found, _ = zip(*(simulated(np.random.default_rng(seed), copiers=0, shared=True) for seed in range(3)), strict=True)
    assert sum(len(suspects(one, 1)) for one in found) <= 4 and sum(map(len, found)) == 150


def test_the_likeliest_model_of_each_and_the_level_shared_among_models():
    given = [Given(task, who, who == 2 or task % 3 > 0) for task in range(60) for who in (1, 2)]
    models = {"same": {task: task % 3 > 0 for task in range(60)}, "other": {task: task % 2 > 0 for task in range(60)}}
    [one] = suspects(followed(given, models), 2)
    assert (one.annotator, one.model, one.n, one.model_wrong, one.both) == (1, "same", 60, 20, 20)
    assert suspects([one], 10**20) == []


def test_too_few_tasks_or_nobody_else_say_nothing():
    alone = [Given(task, 1, task % 3 > 0) for task in range(60)]
    assert followed(alone, {"m": dict.fromkeys(range(60), True)}) == []
    assert (
        followed([*alone[:19], *(Given(task, 2, True) for task in range(19))], {"m": dict.fromkeys(range(19), True)})
        == []
    )
