"""Setting a study up, in the browser without script and by command: presets, every value, the plan."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.designs import presets
from annotation.designs.plan import NO_CHECKS, effort_in_words, expected_effort
from annotation.designs.presets import PRESETS, default_assumptions
from annotation.management.commands.create_study import Command
from annotation.management.named import named
from annotation.models import Stage, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.studies.setup_forms import StageForm
from tests.builders import studies

pytestmark = pytest.mark.django_db
NEW = "/studies/new/"
ONE = "bivlc-choose"


def shown(html: str) -> dict[str, str]:
    """What the page's form would send as it stands: fields by name."""
    form = html[html.index('id="new-study"') : html.index("</form>", html.index('id="new-study"'))]
    found = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, kind = re.search(r'name="([^"]+)"', tag), re.search(r'type="([^"]+)"', tag)[1]
        if name and (kind not in {"checkbox", "radio"} or "checked" in tag):
            given = re.search(r'value="([^"]*)"', tag)
            found.setdefault(name[1], []).append(given[1] if given else "on" if kind == "checkbox" else "")
    for name, words in re.findall(r'<textarea name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.S):
        found[name] = [words]
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', form, re.S):
        found[name] = re.findall(r'value="([^"]*)" selected', options)
    return found


def start(client, **asked) -> dict:
    return {**shown(client.get(NEW, asked).content.decode()), "name": "Round 1"}


def planned(html: str) -> dict[str, dict[str, str]]:
    rows = re.findall(r'<tr data-plan="([^"]*)">(.*?)</tr>', html, re.S)
    return {name: dict(re.findall(r'data-of="(\w+)">([^<]*)<', row)) for name, row in rows}


def test_one_question_is_set_up_with_what_was_filled_in(client, manager):
    benchmark = studies.benchmark(items=3)
    form = start(client, protocol=ONE, benchmark=benchmark.pk)
    form |= {f"{ONE}-quota": 5, f"{ONE}-auto_advance": "on", f"{ONE}-instructions": "Look\r\nwell.", "currency": "eur"}
    answer = client.post(NEW, form | {"paused": "on", "consent": "I agree."})
    study = Study.objects.get(name="Round 1")
    assert answer.url == reverse("study-detail", args=[study.pk])
    stage = study.stages.get()
    assert (stage.slots.count(), stage.quota, stage.auto_advance, study.currency) == (6, 5, True, "EUR")
    assert (study.created_by, stage.instructions.get().text) == (manager, "Look\nwell.")
    assert (study.state, study.consent) == ("paused", "I agree.")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_sent_back_as_it_came_makes_its_stages(client, manager, preset):
    benchmark = studies.benchmark(items=2)
    for item in benchmark.items.all():
        item.item_images.create(image=studies.image(), role="negative", position=0, source_name="n")
        for role, position in (("second_positive", 0), ("negative", 1)):  # what the text protocols ask about
            item.captions.create(role=role, position=position, text=f"Other words, {role}.")
    answer = client.post(NEW, start(client, preset=preset, benchmark=benchmark.pk))
    assert answer.status_code == 302, re.findall(r"errorlist[^>]*>(.*?)</ul>", answer.content.decode())
    made = list(Study.objects.get().stages.all())
    for plan, stage in zip(PRESETS[preset].stages, made, strict=True):
        assert (stage.name, stage.protocol, stage.source and stage.source.name) == (
            plan.stage_name, plan.protocol, plan.source or None
        )  # fmt: skip
        assert {name: getattr(stage, name) for name in plan.settings} == plan.settings


def test_bivlc_by_form_is_bivlc_by_command(client, manager):
    """Whichever way, every column of every stage is the same."""
    benchmark = studies.benchmark(items=2, name="Small")
    client.post(NEW, start(client, preset="bivlc", benchmark=benchmark.pk))
    call_command("create_study", "Small", "--preset", "bivlc", "--name", "By command")
    own = {"id", "study_id", "invite", "seed", "source_id", "after_id"}
    rows = [
        [{k: v for k, v in row.items() if k not in own} for row in Stage.objects.filter(study__name=name).values()]
        for name in ("Round 1", "By command")
    ]
    assert rows[0] == rows[1] and len(rows[0]) == 4


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"overlap": 0}, "overlap"),
        ({"lease_seconds": 5}, "lease_seconds"),
        ({"strategy": "batches", "batch_size": ""}, "batch_size"),
        ({"agreement_items": 5}, "agreement_overlap"),
        ({"agreement_overlap": 2}, "agreement_items"),
        ({"overlap": 3, "cap": 2}, "cap"),
        ({"check_rate": 60}, "check_rate"),
        ({"seconds": 0}, "seconds"),
        ({"strategy": "lottery"}, "strategy"),
        ({"apart_from": "nowhere"}, "apart_from"),
        ({"instructions": ""}, "instructions"),
    ],
)
def test_a_wrong_value_is_said_at_its_field(client, manager, changes, field):
    benchmark = studies.benchmark()
    form = start(client, protocol=ONE, benchmark=benchmark.pk)
    answer = client.post(NEW, form | {f"{ONE}-{name}": value for name, value in changes.items()})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'id="id_{ONE}-{field}_error"' in page and f'href="#id_{ONE}-{field}"' in page
    assert re.search(rf'<(input|select|textarea|fieldset)[^>]*id="id_{ONE}-{field}"', page)
    assert not Study.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("name", ""), ("pay_per_hour", -1), ("currency", "DOLLARS")])
def test_a_wrong_value_of_the_study_is_said_at_its_field(client, manager, field, value):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk)
    answer = client.post(NEW, {**form, field: value})
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()


def test_a_share_of_more_than_all_is_refused(client, manager):
    form = start(client, preset="bivlc", benchmark=studies.benchmark().pk)
    answer = client.post(NEW, form | {"choose-kept": 101})
    assert answer.status_code == 422 and 'id="id_choose-kept_error"' in answer.content.decode()


def test_a_name_that_is_taken_is_refused(client, manager):
    studies.study(name="Round 1")
    answer = client.post(NEW, start(client, protocol=ONE))
    assert answer.status_code == 422 and "A study with this name" in answer.content.decode()


def test_a_benchmark_that_does_not_suit_is_explained(client, manager):
    benchmark = studies.benchmark(candidates=1)
    answer = client.post(NEW, start(client, protocol=ONE, benchmark=benchmark.pk))
    assert answer.status_code == 422 and "has 1 candidate images" in answer.content.decode()
    assert not Study.objects.exists()


def test_a_setting_within_more_is_not_hidden_when_it_is_wrong(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk)
    page = client.post(NEW, form | {f"{ONE}-lease_seconds": 1}).content.decode()
    assert "<details open><summary>More settings for" in page


def test_the_page_plans_what_the_preset_needs(client, manager):
    benchmark = studies.benchmark(items=3)
    page = client.get(NEW, {"preset": "bivlc", "benchmark": benchmark.pk}).content.decode()
    stages = PRESETS["bivlc"].stages
    for one in expected_effort(stages, items=3, assumed=default_assumptions(stages), pay=12):
        assert planned(page)[one.stage] == effort_in_words(one)


def test_the_plan_is_worked_out_again_without_script_and_nothing_is_set_up(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark(items=10).pk)
    changes = {f"{ONE}-overlap": 3, f"{ONE}-seconds": 36, f"{ONE}-check_rate": 25, "pay_per_hour": 12, "plan": 1}
    answer = client.post(NEW, form | changes)
    assert answer.status_code == 200 and not Study.objects.exists()
    expected = {"judgments": "30", "hours": "0.4", "cost": "4.80", "annotators": "3"}
    assert planned(answer.content.decode()) == {ONE: expected, "": expected}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_practice_is_set_up_only_where_there_can_be_any(client, manager, protocol):
    path = f"{NEW}?protocol={protocol}&benchmark={studies.benchmark().pk}"
    html = client.get(path).text
    has = [f'name="{protocol}-{field}"' in html for field in StageForm.OF_PRACTICE]
    assert has == [PROTOCOLS[protocol].form is None] * 4
    assert ("checks, practice," in html) == (NO_CHECKS not in unescape(html)) == all(has)


def test_percents_come_back_as_they_were_typed(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk) | {f"{ONE}-check_rate": "12.5", "plan": 1}
    again = shown(client.post(NEW, form).content.decode())
    assert again[f"{ONE}-check_rate"] == ["12.5"]
    client.post(NEW, again | {"name": "Round 1"})
    assert Stage.objects.get().check_rate == 0.125


def test_without_a_benchmark_there_is_a_way_to_one(client, manager):
    page = client.get(NEW).content.decode()
    assert "Import one" in page and "new-study" not in page


def test_what_an_address_asks_for_and_is_not_there_is_the_first_preset(client, manager):
    studies.benchmark()
    for asked in ({"preset": "nothing"}, {"protocol": "nothing"}, {"benchmark": "x"}, {}):
        page = client.get(NEW, asked)
        assert page.status_code == 200 and 'data-stage="choose"' in page.content.decode()


def test_only_staff_sets_studies_up(client):
    assert client.get(NEW).status_code == 302
    client.force_login(User.objects.create_user("guest", password="x"))
    assert client.post(NEW, {"name": "x"}).status_code == 403


def said(capsys, *options: str) -> str:
    call_command("create_study", *options)
    return capsys.readouterr().out


def test_the_command_prints_every_stage_with_its_links_and_the_plan(capsys):
    studies.benchmark(items=10, name="Small")
    printed = said(capsys, "Small", "--preset", "bivlc", "--url", "https://lab.example/")
    study = Study.objects.get()
    assert (study.name, study.pay_per_hour, study.currency) == ("Small, bivlc", 12, "USD")
    for stage in study.stages.all():
        assert f"https://lab.example{reverse('join', args=[stage.invite])}" in printed
    assert f"Invite annotators: https://lab.example{reverse('join', args=[study.invite])}" in printed
    stages = PRESETS["bivlc"].stages
    for number, one in enumerate(expected_effort(stages, items=10, assumed=default_assumptions(stages), pay=12), 1):
        words = effort_in_words(one)
        assert f"{number} {one.stage}: {words['judgments']} judgments wanted, {words['hours']} h" in printed
    assert "1 choose: 20 judgments wanted, 0.1 h, 0.80 USD, 2 annotators" in printed
    assert "2 disambiguate: ≈ 7 judgments wanted" in printed and "In all: ≈ " in printed


def test_the_command_changes_any_value_of_any_stage(capsys):
    studies.benchmark(items=3, name="Small")
    changes = ["choose.overlap=2", "choose.agreement_items=none", "choose.agreement_overlap=", "i2t.check_rate=5"]
    changes += ["i2t.stratify=yes", "t2i.stratify=no", "disambiguate.strategy=pool"]
    said(capsys, "Small", "--preset", "bivlc", "--sample", "2", *(f"--set={change}" for change in changes))
    choose, disambiguate, i2t, t2i = Study.objects.get().stages.all()
    assert (choose.overlap, choose.agreement_items, disambiguate.strategy) == (2, None, "pool")
    assert (i2t.check_rate, i2t.stratify, t2i.stratify, i2t.sample, t2i.sample) == (0.05, True, False, 2, 2)
    assert (choose.sample, disambiguate.sample) == (None, None)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--preset", "bivlc", "--set", "chose.overlap=2"], "the stages are choose, disambiguate, i2t, t2i"),
        (["--preset", "bivlc", "--set", "choose.k=2"], "the fields are overlap, cap"),
        (["--preset", "bivlc", "--set", "choose.overlap=two"], "choose.overlap=two: Enter a whole number"),
        (["--preset", "bivlc", "--set", "choose.overlap=51"], "less than or equal to 50"),
        (["--preset", "bivlc", "--set", "choose.strategy=lottery"], "lottery is not one of the available"),
        (["--preset", "bivlc", "--set", "overlap=2"], "write STAGE.FIELD=VALUE"),
        (["--preset", "bivlc", "--overlap", "2"], "With --preset, set it for one stage"),
        (["--preset", "verify", "--sample", "2"], "No stage of verify draws a sample"),
        (["--protocol", ONE, "--set", f"{ONE}.strategy=batches"], "batch_size: Enter the number of items"),
    ],
)
def test_the_command_refuses_with_a_sentence_and_makes_nothing(options, sentence):
    studies.benchmark(name="Small")
    with pytest.raises(CommandError, match=sentence):
        call_command("create_study", "Small", *options)
    assert not Study.objects.exists()


def test_one_question_by_command(capsys, tmp_path):
    studies.benchmark(items=3, name="Small")
    words = tmp_path / "consent.txt"
    words.write_text("I agree.")
    options = [
        "--protocol",
        ONE,
        "--overlap",
        "2",
        "--pay",
        "12",
        "--lease",
        "300",
        "--consent",
        str(words),
        "--paused",
    ]
    printed = said(capsys, "Small", *options)
    study = Study.objects.get()
    assert reverse("join", args=[study.invite]) in printed and "6 judgments wanted" in printed
    assert (study.pay_per_hour, study.stages.get().lease_seconds) == (12, 300)
    assert (study.consent, study.state) == ("I agree.", "paused")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_question_by_command_has_the_pages_settings(protocol):
    made = Command().stages(presets.single_stage(protocol).stages, None, {"sample": None})
    [proposed] = presets.single_stage(protocol).stages
    assert [stage.settings for stage in made] == [{**proposed.settings, "sample": None}]


def test_the_command_names_what_does_not_suit_and_what_is_not_there():
    studies.benchmark(name="Small", candidates=1)
    with pytest.raises(CommandError, match="has 1 candidate images"):
        call_command("create_study", "Small", "--protocol", ONE)
    with pytest.raises(CommandError, match=r"no benchmark 'Big'\. Import it first"):
        call_command("create_study", "Big", "--protocol", ONE)


def test_a_name_wins_over_a_number():
    numbered = studies.study(items=1)
    called = studies.study(items=1, name=str(numbered.pk))
    assert named(Study.objects.all(), str(numbered.pk)) == called
    assert named(Study.objects.all(), str(called.pk)) == called
    with pytest.raises(CommandError, match=f"There is no study 'x'. There are: .*{numbered.name}"):
        named(Study.objects.all(), "x")
