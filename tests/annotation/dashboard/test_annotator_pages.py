"""The pages of people: what stands there, in which order, for whom, and what is decided there."""

import re
from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.dashboard import annotator_page, home_page, people_page, sign_evidence
from annotation.figures import annotators
from annotation.models import Annotator, CachedFigures, Role, Slot, Stage
from annotation.participants import lifecycle as participant_lifecycle
from annotation.participants.review import people_to_review
from annotation.pipeline.outcomes import rule_of
from annotation.studies import members
from benchmarks.models import Event
from tests.builders import cohorts, crowds, pipelines, studies

pytestmark = pytest.mark.usefixtures("savepoint")
TWO = ("honest", "honest", "honest", "always left")


def table(study, **query) -> str:
    return reverse("study-annotators", args=[study.pk], query=query)


def one(study, number: int, **query) -> str:
    return reverse("study-annotator", args=[study.pk, number], query=query)


@pytest.fixture(scope="module")
def built(module_world) -> Stage:
    return cohorts.study(TWO, judgments=30)[0]


@pytest.fixture
def stage(built) -> Stage:
    return Stage.objects.select_related("study").get(pk=built.pk)


def login(client, study, role: str) -> User:
    user = User.objects.create_user(role, password="x", is_staff=True)
    members.add(study=study, user=user, role=role, by="test")
    client.force_login(user)
    return user


# The table


def test_everybody_stands_there_with_the_signs_and_who_is_to_be_looked_at_first(client, manager, stage):
    shown = client.get(table(stage.study)).text
    assert "4 joined, 4 judged · 1 has warning signs" in shown and "favours one position</span>" in shown
    assert shown.index("A-04") < shown.index("A-01")
    assert "?stage=1&amp;show=side#screens" in shown
    checked = annotators.latest(stage.study).data["whole"][3]["checks"]
    assert f"{checked['right']} of {checked['n']}" in shown


def lines(stage: Stage) -> list[people_page.Line]:
    return people_page.lines(stage.study, annotators.latest(stage.study).data)


@pytest.mark.parametrize("column", ["who", "judged", "seconds", "common", "checks", "active", "paid", "signs"])
def test_every_column_sorts_both_ways(client, manager, stage, column):
    """Somebody who has judged nothing is last in either order, if their value is unknown."""
    studies.annotator(stage.study)
    asked = [client.get(table(stage.study, **{"list-sort": sort})) for sort in (column, f"-{column}")]
    up, down = ([line.who.number for line in page.context["lines"]] for page in asked)
    assert up != down and sorted(up) == sorted(down) == [1, 2, 3, 4, 5]
    assert 'aria-sort="ascending"' in asked[0].text and 'aria-sort="descending"' in asked[1].text


def test_the_list_and_each_person_say_the_same_over_all_stages(client, manager):
    """Of those without signs, who judged most comes first."""
    study = pipelines.pipeline(crowds.benchmark(24))
    page = client.get(table(study))
    judged = [line.judged for line in page.context["lines"] if not line.has_evidence]
    assert judged == sorted(judged, reverse=True) and "Numbers cover all stages" in page.text
    for line in page.context["lines"]:
        row = page.text.partition(f'<tr id="{line.who.pseudonym}"')[2].partition("</tr>")[0]
        own = " ".join(strip_tags(client.get(one(study, line.who.number)).text).split())
        said = re.search(r"Over all stages: (\S+) judgments?, (\S+) s an answer, (\S+) like .*? \(of (\d+)\)", own)
        assert {*said.groups()[:3]} <= {*strip_tags(row.replace("<", " <")).split()} and said[4] == str(line.same["n"])


def test_the_list_comes_in_parts(client, manager, stage, monkeypatch):
    monkeypatch.setattr(people_page, "ON_A_PAGE", 3)
    parts = [client.get(table(stage.study, **{"list-sort": "who", "list-page": number})) for number in (1, 2)]
    assert [[line.who.number for line in part.context["lines"]] for part in parts] == [[1, 2, 3], [4]]
    assert 'rel="next"' in parts[0].text and "1 to 3 of 4" in parts[0].text and 'rel="prev"' in parts[1].text


@pytest.mark.parametrize("query", [{"list-sort": "nothing"}, {"show": "x"}, {"list-page": "99"}])
def test_what_cannot_be_sorted_by_or_is_no_filter_gives_everybody(client, manager, stage, query):
    assert len(client.get(table(stage.study, **query)).context["lines"]) == 4


def test_each_filter_counts_the_rows_behind_it_and_signs_are_those_of_the_next_step(client, manager, stage):
    """One with signs, one excluded, one who joined and stayed away; a decision takes a sign out of the count."""
    long_ago = timezone.now() - timedelta(hours=2)
    Annotator.objects.filter(pk=studies.annotator(stage.study).pk).update(joined_at=long_ago)
    participant_lifecycle.exclude(annotator=stage.study.annotators.get(number=2), reason="Too few", by="test")
    expected = {"": [1, 2, 3, 4, 5], "signs": [4], "away": [5], "excluded": [2]}
    page = client.get(table(stage.study))
    assert {key: count for key, _, count in page.context["filters"]} == {key: len(of) for key, of in expected.items()}
    for key, numbers in expected.items():
        page = client.get(table(stage.study, show=key, **{"list-sort": "who"}))
        found = [line.who.number for line in page.context["lines"]]
        assert found == numbers, key
    assert people_to_review(stage.study) == expected["signs"]
    assert home_page.step_of(home_page.listed(manager, stage.study)).step.url == table(stage.study, show="signs")
    participant_lifecycle.keep(annotator=stage.study.annotators.get(number=4), reason="A pilot", by="test")
    shown = client.get(table(stage.study, show="signs"))
    assert "no warning signs" in shown.text and not shown.context["lines"]


def test_somebody_away_is_released_from_the_list(client, manager, stage):
    gone = studies.annotator(stage.study)
    Annotator.objects.filter(pk=gone.pk).update(joined_at=timezone.now() - timedelta(hours=2))
    assert "Release the place" in client.get(table(stage.study, show="away")).text
    shown = client.post(one(stage.study, gone.number), {"act": "left", "list": "away"}, follow=True)
    gone.refresh_from_db()
    assert gone.left_at and shown.redirect_chain[0][0] == table(stage.study, show="away")
    assert "Nobody here." in shown.text


@pytest.mark.parametrize(
    "who",
    [
        ("honest", "honest", "honest", "always left"),
        ("random", "honest", "honest"),
        ("hasty", "honest", "honest"),
        ("always None", "honest", "honest", "honest"),
        ("random", "honest", "honest", "honest", "honest"),
    ],
    ids=str,
)
def test_sentence_link_and_the_screens_behind_it_count_the_same(client, manager, who):
    stage, _ = cohorts.study(who, judgments=30, overlap=len(who))
    found = sign_evidence.evidence(annotators.latest(stage.study).data)
    assert any(found.values())
    shown = client.get(table(stage.study)).text
    for sign in (sign for of_one in found.values() for sign in of_one if sign.count is not None):
        query = {"stage": 1, "show": sign.kind}
        page = client.get(one(stage.study, sign.number, **query))
        assert (page.context["count"], page.context["show"]) == (sign.count, sign.kind), sign
        numbers = set(map(int, re.findall(r"\b\d+\b", sign.sentence)))
        compared = re.findall(r"(\d+) of (\d+) screens compared", sign.sentence)
        assert sign.count in numbers | {int(n) - int(same) for same, n in compared}, sign
        assert f"{one(stage.study, sign.number, **query)}#screens".replace("&", "&amp;") in shown
        if compared:
            [line] = [line for line in lines(stage) if line.who.number == sign.number]
            assert {(str(line.same["same"]), str(line.same["n"]))} == set(compared)


def test_what_an_exclusion_takes_is_said_before_and_is_what_it_does(client, manager, stage):
    who = stage.study.annotators.get(number=4)
    shown = client.get(table(stage.study))
    [cost] = [line.cost for line in shown.context["lines"] if line.who == who]
    text = " ".join(strip_tags(shown.text).split())
    assert f"{cost.answers} answers no longer count and {cost.again} are assigned to others: about" in text
    assert text.count("Decide about") == 1 and "What A-04 has earned stays owed" in text
    done = client.post(one(stage.study, 4), {"act": "exclude", "reason": "Always left", "list": ""}, follow=True)
    assert f"{cost.answers} answers no longer count" in done.text and done.redirect_chain[0][0] == table(stage.study)
    assert Slot.objects.filter(task__kind="judge", judgment=None, live=True).count() == cost.again


def test_outliers_among_few_are_listed_first_as_too_few_to_test(client, manager):
    """Eighteen judgments each: no test is made, two of five are always wrong, one takes 0.9 seconds."""
    who = ("honest", "mistaken", "hasty", "mistaken", "honest")
    stage, _ = cohorts.study(who, judgments=18, overlap=5)
    data = annotators.latest(stage.study).data
    assert not any(row["signs"] for row in data["whole"])
    shown = client.get(table(stage.study)).text
    assert "3 have warning signs" in shown and shown.count("(too few to test)</span>") == 3
    body = shown[shown.index("<tbody") :]
    assert max(map(body.index, ("A-02", "A-03", "A-04"))) < min(map(body.index, ("A-01", "A-05")))
    quality = reverse("study-agreement", args=[stage.study_id])
    named = client.get(quality).context["apart"]
    assert [words.split(" on ")[0] for words in named] == [f"A-0{who} gave the common answer" for who in (2, 4)]
    client.post(one(stage.study, 2), {"act": "keep", "reason": "Fine"})
    assert [words[:4] for words in client.get(quality).context["apart"]] == ["A-04"]
    own = client.get(one(stage.study, 3)).text
    assert "very fast</b>" in own and "(too few to test)" in own
    assert "the others" in own and "took less than half of that" in own


def test_of_two_who_disagree_the_page_says_that_nothing_shows_who_is_right(client, manager):
    stage, _ = cohorts.study(("honest", "mistaken"), judgments=12, overlap=2)
    shown = client.get(table(stage.study)).text
    assert "A-01 and A-02" in shown and "no way to tell which of them is right" in shown
    assert (
        "too few judgments to test anybody for warning signs: 20 in one stage" in shown
        and home_page.step_of(home_page.listed(manager, stage.study)).way[2].state == ""
    )
    assert reverse("study-checks", args=[stage.study.pk, 1]) in shown


def test_a_study_nobody_has_come_to(client, manager):
    study = studies.study()
    assert "Nobody has joined yet" in client.get(table(study)).text
    studies.annotator(study)
    shown = client.get(one(study, 1)).text
    assert "Not tested: tests need 20" in shown and "Decide about A-01" in shown


def test_the_figures_are_those_of_the_rows(client, manager, stage):
    found = annotators.latest(stage.study).data
    [row] = [row for row in found["stages"][0]["rows"] if row["number"] == 4]
    assert row["side"]["counts"][0] == row["judged"] == row["runs"]["longest"]
    assert row["paid"] == pytest.approx(row["active_minutes"] / 5)  # 12 an hour
    assert row["per_hour"] == pytest.approx(row["answers"] / row["active_minutes"] * 60)
    assert row["answers"] == row["judged"] + row["checks"]["n"]


def test_they_are_computed_once_for_each_state(client, manager, stage):
    client.get(table(stage.study))
    made = CachedFigures.objects.get(kind="annotators").made_at
    client.get(table(stage.study))
    assert CachedFigures.objects.get(kind="annotators").made_at == made


# One annotator


def test_the_screens_behind_each_sign(client, manager, stage, monkeypatch):
    monkeypatch.setattr(annotator_page, "SCREENS", 20)
    row = annotators.latest(stage.study).data["stages"][0]["rows"][3]
    wrong = row["checks"]["n"] - row["checks"]["right"]
    same = row["majority"][row["agreement"].get("on", "answer")]
    expected = dict.fromkeys(("all", "side", "runs", "nothing"), row["judged"])
    for show, n in {**expected, "agreement": same["n"] - same["same"], "fast": row["quick"], "checks": wrong}.items():
        pages = [client.get(one(stage.study, 4, stage=1, show=show, page=page)) for page in (1, 2)]
        parts = [page.text.split('id="screens"')[1].partition("<details")[0].count('<th scope="row"') for page in pages]
        assert parts[0] == min(n, 20) and (sum(parts) == n if n > 20 else parts[0] == parts[1]), show


@pytest.mark.parametrize("people", [2, 3, 5])
def test_tile_filter_test_and_sign_count_the_same_screens(client, manager, people):
    """One of them answers at random. Whatever compares an annotator with the others counts the same screens."""
    stage, _ = cohorts.study(("random", *["honest"] * (people - 1)), judgments=30, overlap=people)
    data = annotators.latest(stage.study).data
    assert bool(sign_evidence.evidence(data)[1]) is (people > 2)
    for number in range(1, people + 1):
        page = client.get(one(stage.study, number, stage=1, show="agreement"))
        shown = " ".join(strip_tags(page.text).split())
        view = page.context["view"]
        same, n = re.search(rf"(\d+) of (\d+) on {view}\b", shown).groups()
        apart, see = int(n) - int(same), rule_of(stage).projections()[view]
        assert re.search(rf"differs from the majority \({view}\) {apart}\b", shown)
        assert len(page.context["found"]) == min(apart, annotator_page.SCREENS) and page.context["show"] == "agreement"
        for screen in page.context["found"]:
            others = Counter(map(see, screen.others)).most_common()
            assert others[0][0] != see(screen.row.answer) and (len(others) == 1 or others[0][1] > others[1][1])
        assert re.search(rf"gave the majority’s answer \({view}\) ?{n}", shown)
        if sign := [one for one in page.context["line"].evidence if one.kind == "agreement"]:
            assert f"common answer on {same} of {n} screens compared" in sign[0].sentence and sign[0].count == apart


def test_the_sign_of_the_fastest_among_few_links_to_the_screens_that_were_fast(client, manager):
    stage, _ = cohorts.study(("hasty", "honest", "honest"), judgments=18, overlap=3)
    signs = client.get(one(stage.study, 1)).text.partition('id="signs"')[2].partition("</ul>")[0]
    assert "show=fast#screens" in signs
    found = client.get(one(stage.study, 1, stage=1, show="fast")).context["found"]
    assert len(found) > 9 and all(screen.seconds < 3 for screen in found)


def test_the_evidence_of_somebody_who_was_excluded_stays(client, manager, stage):
    before = annotators.latest(stage.study).data["whole"][3]
    participant_lifecycle.exclude(annotator=stage.study.annotators.get(number=4), reason="Always left", by="test")
    after = annotators.latest(stage.study).data["whole"][3]
    assert after["judged"] == before["judged"] > 0
    assert {"side", "runs"} <= {sign["kind"] for sign in after["signs"]}
    shown = client.get(one(stage.study, 4)).text
    assert "excluded</b> by test" in shown and "Reinstate A-04" in shown and "Chose the first position on" in shown


def test_what_is_not_there_is_404(client, manager, stage):
    assert client.get(one(stage.study, 99)).status_code == 404
    assert client.get(reverse("study-annotators", args=[9999])).status_code == 404
    assert "not judged anything in this stage" in client.get(one(stage.study, 1, stage=7)).text


# Deciding


def test_a_manager_keeps_somebody_with_a_reason(client, stage):
    login(client, stage.study, Role.MANAGER)
    shown = client.post(one(stage.study, 4), {"act": "keep", "reason": "They <use> the keyboard."}, follow=True).text
    assert "A-04 is kept" in shown and "kept</b> by manager" in shown and "They &lt;use&gt; the keyboard." in shown
    assert "kept</b>" in client.get(table(stage.study)).text.partition("<tbody")[2]
    assert Event.objects.get(verb="kept").data["reason"] == "They <use> the keyboard."
    assert not Annotator.objects.exclude(excluded_at=None).exists()


def test_another_word_decides_nothing(client, manager, stage):
    assert "Unknown decision" in client.post(one(stage.study, 4), {"act": "reject", "reason": "x"}, follow=True).text
    assert not Annotator.objects.exclude(excluded_at=None).exists()


def test_a_manager_excludes_and_reinstates(client, manager, stage):
    client.post(one(stage.study, 4), {"act": "exclude", "reason": "Always left."})
    assert Annotator.objects.get(number=4).exclusion_reason == "Always left."
    shown = client.post(one(stage.study, 4), {"act": "reinstate", "reason": "A mistake."}, follow=True).text
    assert shown.index("reinstated</b> by ana") < shown.index("excluded</b> by ana")


def test_without_a_reason_nothing_is_decided(client, manager, stage):
    for act in ("keep", "exclude", "reinstate"):
        client.post(one(stage.study, 4), {"act": act, "reason": " "})
    shown = client.get(one(stage.study, 4)).text
    assert shown.count("Say why") == 3
    assert not Event.objects.filter(verb__in=["kept", "excluded", "reinstated"]).exists()


# Who


def test_a_viewer_sees_pseudonyms_and_decides_nothing(client, stage):
    who = stage.study.annotators.get(number=4)
    Annotator.objects.filter(pk=who.pk).update(name="Grace Hopper", prolific_pid="pid-grace")
    login(client, stage.study, Role.VIEWER)
    for url in (table(stage.study), one(stage.study, 4), one(stage.study, 4, show="checks")):
        shown = client.get(url).text
        assert "A-04" in shown and "Grace" not in shown and "pid-grace" not in shown, url
        assert "failed checks" not in shown and "Exclude A-04" not in shown and "invite-link" not in shown
    assert client.post(one(stage.study, 4), {"act": "keep", "reason": "x"}).status_code == 403


def test_a_manager_sees_names(client, stage):
    Annotator.objects.filter(number=4).update(name="Grace <b>", prolific_pid="pid-grace", simulated=False)
    login(client, stage.study, Role.MANAGER)
    for url in (table(stage.study), one(stage.study, 4)):
        shown = client.get(url).text
        assert "Grace &lt;b&gt;" in shown and "pid-grace" in shown
