"""Law 4, by measure: classifiers on what an annotator can see tell neither checks nor the right side.

Here on 400 presentations a case, so that only a coarse tell shows: the limits are four standard errors of a blind guess
(0.033 for an area under the curve with 100 checks, 0.025 for a share of 400). `make nightly` has all protocols. The
suite compares a few screens of each protocol, which must not differ at all, and has half as many presentations of
checks in a pool; in the same screens it plants one tell each of checks and of the right side.
The server's response times are left out, since waiting for them takes long. `make load` has 10,000 a case, those times,
and the limits of 0.47–0.53 and 50 ± 1% (bench/blinding.py). Every tell that is planted is found.
"""

import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from annotation.assignment import leases as assignment_leases
from annotation.checks import attention_checks, gold_items
from annotation.checks.parsing import Known
from annotation.judging import constant_time
from annotation.judging import views as judging_views
from annotation.models import Kind, Lease, Strategy
from annotation.protocols.registry import PROTOCOLS
from annotation.screens import material
from tests.annotation.judging import visible_features
from tests.builders import studies
from tests.builders.every_protocol import CHECKED

pytestmark = pytest.mark.django_db
TIME = "_ms"
TIMES = (TIME,)
FOUND = 0.7


@pytest.fixture(autouse=True)
def quick(monkeypatch, request):
    if not request.node.get_closest_marker("nightly"):
        monkeypatch.setattr(visible_features, "TREES", 30)
    answer_at_once(monkeypatch)


def answer_at_once(monkeypatch):
    monkeypatch.setattr(constant_time, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))


def blind(found, limit, middle=0.5):
    return all(abs(one - middle) < limit for one in found.values())


def planted(seen, marked):
    """`seen` as if every fragment had come as `marked(lease, html)`: a tell is planted."""
    leases = Lease.objects.filter(token__in=[one.lease for one in seen]).select_related("task__item")
    leases = {str(lease.token): lease for lease in leases}
    return [
        replace(
            one, features=one.features | visible_features.of_fragment(marked(leases[one.lease], one.html), one.lease)
        )
        for one in seen
    ]


# Every protocol


def looks(seen):
    """The screens as they are received, without tokens, times and what goes with their place among others."""
    kinds = ("picture_", "option_", "bytes", "tags", "attributes", "order", "values", "addresses", "address_shapes")
    return {
        frozenset((name, value) for name, value in one.features.items() if name.startswith(kinds) and TIME not in name)
        for one in seen
    }


def sitting_of(protocol):
    """Two annotators, one without script, and all their screens, checks among them where there can be any."""
    if protocol in CHECKED:
        stage = visible_features.stage_with_checks(Strategy.EVERYONE, items=2, known=1, protocol=protocol)
    else:
        stage = visible_features.stage_with_sides(protocol, items=2, annotators=2)
    visible_features.seed(1)
    seen = visible_features.collect(stage, 2, 10, plain=2)
    checks = visible_features.is_check(seen)
    assert len(set(checks)) == 1 + (protocol in CHECKED)
    leases = Lease.objects.filter(token__in=[one.lease for one in seen])
    assert len({(lease.task.question, *lease.shown) for lease in leases.select_related("task")}) > 1
    return seen


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_screens_differ_in_random_names_alone(protocol):
    """Checks and others, every question, and every order of the options: when they say the same, they are the same."""
    assert len(looks(sitting_of(protocol))) == 1


def test_pictures_of_their_own_size_are_found(monkeypatch):
    monkeypatch.setattr(material, "are_alike", lambda images: True)
    assert len(looks(sitting_of("bivlc-i2t"))) > 1


@pytest.mark.parametrize("protocol", CHECKED)
def test_practice_shows_the_screens_of_the_work(client, protocol):
    """What is practice stands above it; nothing of it is in the screen, nor in the headers or in a cookie."""
    stage = visible_features.stage_with_sides(protocol, items=1, files=False)
    known = dict.fromkeys(visible_features.material(1, files=False).items.all(), Known((), "Well."))
    gold_items.set_known(stage=stage, kind=Kind.PRACTICE, known=known, by="test")
    home = f"/judge/{studies.annotator(stage.study).token}/"
    pages = []
    while not pages or b"Practice" in pages[-1].content:
        assert len(pages) < 9
        pages.append(client.get(home, follow=True))
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', pages[-1].text))
        if "place" in fields:
            choices = re.findall(r'name="answer" value="(\w+)"', pages[-1].text)
            client.post(f"{home}before/", fields | {"answer": choices[0]})
            client.post(f"{home}before/", fields | {"go_on": "1"})
    shown = [re.search(visible_features.FRAGMENT, page.text)[0] for page in pages]
    assert len(pages) > 1 and len({re.sub(r"[0-9a-f-]{36}|practice-\d-\d", "", masked(html)) for html in shown}) == 1
    assert len({tuple(sorted(page.headers)) for page in pages}) == 1 and not client.cookies


def masked(html):
    return re.sub(r'src="([^"]*)"', lambda src: visible_features.shape(src[1]), html)


# Checks


def in_a_pool(annotators=20, plain=5, files=False, **settings):
    stage = visible_features.stage_with_checks(Strategy.POOL, items=20, known=8, files=files, quota=20, **settings)
    seen = visible_features.collect(stage, annotators, 20, plain, files)
    assert len(seen) == 20 * annotators
    return seen, visible_features.is_check(seen)


@pytest.fixture(scope="module")
def pool(module_world):
    """The screens of ten annotators, a quarter of them checks."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        answer_at_once(monkeypatch)
        return in_a_pool(10, plain=10)


def test_checks_in_a_pool_cannot_be_told(pool, savepoint):
    found = visible_features.auc(*pool, without=TIMES)
    assert blind(found, 0.19), found


@pytest.mark.nightly
def test_checks_among_more_presentations_in_a_pool_cannot_be_told():
    found = visible_features.auc(*in_a_pool(20), without=TIMES)
    assert blind(found, 0.135), found


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", CHECKED[1:])
def test_checks_of_other_protocols_in_a_pool_cannot_be_told(protocol):
    found = visible_features.auc(*in_a_pool(files=True, protocol=protocol), without=TIMES)
    assert blind(found, 0.135), found


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", CHECKED)
def test_checks_among_a_batch_cannot_be_told(protocol):
    questions = visible_features.QUESTIONS.get(protocol, 1)
    stage = visible_features.stage_with_checks(Strategy.EVERYONE, 16 // questions, 6 // questions, protocol=protocol)
    seen = visible_features.collect(stage, 20, 20)
    labels = visible_features.is_check(seen)
    assert len(seen) == 400 and 80 <= sum(labels) <= 120
    found = visible_features.auc(seen, labels, without=TIMES)
    assert blind(found, 0.135), found


@pytest.mark.nightly
def test_a_check_at_every_fifth_screen_is_found(monkeypatch):
    def fifth(annotator, stage):
        return attention_checks.fetch(attention_checks.GIVEN, annotator=annotator.pk, stage=stage.pk)[0][0] % 5 == 3

    monkeypatch.setattr(attention_checks, "is_due", fifth)
    found = visible_features.auc(*in_a_pool(8), without=TIMES)
    assert all(one > FOUND for one in found.values()), found


def test_another_address_for_the_pictures_of_checks_is_found(pool, savepoint):
    def marked(lease, html):
        return html.replace('.jpg"', '.jpg?"') if lease.task.kind == Kind.CHECK else html

    seen, checks = pool
    found = visible_features.auc(planted(seen, marked), checks, without=TIMES)
    assert all(one > FOUND for one in found.values()), found


@pytest.mark.nightly
def test_a_quicker_answer_to_checks_is_found(monkeypatch):
    settle = judging_views.submissions.outcomes.settle

    def slowly(task, *rest, **named):
        time.sleep(0.06 if task.kind == Kind.JUDGE else 0)
        settle(task, *rest, **named)

    monkeypatch.setattr(judging_views.submissions.outcomes, "settle", slowly)
    found = visible_features.auc(*in_a_pool(8))
    assert max(found.values()) > FOUND, found  # a line through noisy times finds less than a forest


# The right side


def right_side(protocol, annotators=10, screens=40, files=False):
    items = screens // visible_features.QUESTIONS.get(protocol, 1)
    stage = visible_features.stage_with_sides(protocol, items, annotators, files)
    visible_features.seed(1)
    seen = visible_features.collect(stage, annotators, screens, files=files)
    assert len(seen) == annotators * screens
    return seen


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "verify"])
def test_the_place_of_an_option_cannot_be_told(protocol):
    """Everybody gets the same questions in the same order, so what is asked is no secret in this sense."""
    seen = right_side(protocol, files=True)
    places = visible_features.first_place(seen)
    found = visible_features.accuracy(seen, places, without=TIMES)
    assert blind(found, 0.1, 1 / (max(places) + 1)), found


def test_options_that_are_not_shuffled_are_found(monkeypatch):
    ordered = {
        key: claim.replace("ORDER BY random()", "ORDER BY option") for key, claim in assignment_leases.CLAIMS.items()
    }
    monkeypatch.setattr(assignment_leases, "CLAIMS", ordered)
    seen = right_side("bivlc-choose", annotators=1, screens=6)
    assert set(visible_features.first_place(seen)) == {0}  # nothing is left to learn


def test_another_attribute_of_the_right_option_is_found(pool, savepoint):
    protocol, (seen, _) = PROTOCOLS["bivlc-choose"], pool

    def marked(lease, html):
        before, *options = html.split('<input type="radio"')
        place = lease.shown.index(visible_features.right(lease.task, protocol))
        options[place] = f" data-r{options[place]}"
        return '<input type="radio"'.join([before, *options])

    places = visible_features.right_place(seen, protocol)
    found = visible_features.accuracy(planted(seen, marked), places, without=TIMES)
    assert all(one > FOUND for one in found.values()), found
