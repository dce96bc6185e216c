"""Setting a study up, in the browser without script and by command: presets, every value, the plan."""

import re
from decimal import Decimal
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.checks import attention_checks
from annotation.designs import presets
from annotation.designs.plan import NO_CHECKS, StagePlan, effort_in_words, expected_effort
from annotation.designs.presets import PRESETS, default_assumptions
from annotation.management.commands.create_study import Command
from annotation.management.named import named
from annotation.models import InstructionsImage, Stage, Study, StudyTemplate
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import instructions_images, members, setup
from annotation.studies.lifecycle import revise_instructions
from annotation.studies.setup import read_kept
from annotation.studies.setup_forms import StageForm
from benchmarks import queries
from benchmarks.models import Benchmark, Caption, Event, ItemImage
from tests.builders import pictures, predictions, studies

pytestmark = pytest.mark.django_db
NEW = "/studies/new/"
SCREEN = "/studies/new/screen/"
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
    return {name: [unescape(value) for value in values] for name, values in found.items()}


def start(client, **asked) -> dict:
    return {**shown(client.get(NEW, asked).content.decode()), "name": "Round 1"}


def planned(html: str) -> dict[str, dict[str, str]]:
    """By stage, if there are several; all of them by ""."""
    rows = re.findall(r'<(tr|tbody) data-plan="([^"]*)">(.*?)</\1>', html, re.S)
    return {name: dict(re.findall(r'data-of="(\w+)">([^<]*)<', row)) for _, name, row in rows}


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


@pytest.mark.parametrize("preset", [name for name in PRESETS if not name.startswith("bivlc-")])  # bivlc has theirs
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
            plan.stage_name,
            plan.protocol,
            plan.source or None,
        )
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


WRONG = [  # what is sent, and the fields that say so
    (one := {"overlap": 0, "lease_seconds": 5, "check_rate": 60, "seconds": 0, "strategy": "lottery",
             "apart_from": "nowhere", "instructions": ""}, list(one)),
    ({"strategy": "batches", "batch_size": "", "agreement_items": 5}, ["batch_size", "agreement_overlap"]),
    ({"overlap": 3, "cap": 2, "agreement_overlap": 2}, ["cap", "agreement_items"]),
]  # fmt: skip


def test_a_wrong_value_is_said_at_its_field_and_not_hidden_within_more(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk)
    for changes, fields in WRONG:
        answer = client.post(NEW, form | {f"{ONE}-{name}": value for name, value in changes.items()})
        page = answer.content.decode()
        assert answer.status_code == 422 and f'href="#id_{ONE}-{fields[0]}"' in page, changes
        for field in fields:
            assert f'id="id_{ONE}-{field}_error"' in page, field
            assert re.search(rf'<(input|select|textarea|fieldset)[^>]*id="id_{ONE}-{field}"', page), field
        assert "lease_seconds" not in fields or "<details open><summary>More:" in page
    assert not Study.objects.exists()


def test_a_wrong_value_of_the_study_is_said_at_its_field(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk)
    wrong = {"name": "", "pay_per_hour": -1, "currency": "DOLLARS"}
    answer = client.post(NEW, form | wrong)
    assert answer.status_code == 422
    assert all(f'id="id_{field}_error"' in answer.content.decode() for field in wrong)


def test_a_name_that_is_taken_is_refused(client, manager):
    studies.study(name="Round 1")
    answer = client.post(NEW, start(client, protocol=ONE))
    assert answer.status_code == 422 and "A study with this name" in answer.content.decode()


def test_a_benchmark_that_does_not_suit_is_explained(client, manager):
    benchmark = studies.benchmark(candidates=1)
    answer = client.post(NEW, start(client, protocol=ONE, benchmark=benchmark.pk))
    assert answer.status_code == 422 and "has 1 candidate image;" in answer.content.decode()
    assert not Study.objects.exists()


def test_the_page_plans_what_the_preset_needs(client, manager):
    benchmark = studies.benchmark(items=3)
    page = client.get(NEW, {"preset": "bivlc", "benchmark": benchmark.pk}).content.decode()
    stages = PRESETS["bivlc"].stages
    for one in expected_effort(stages, items=3, assumed=default_assumptions(stages)):
        row = planned(page)[one.stage]
        assert row.items() <= effort_in_words(one).items() and len(row) == 4


def test_a_papers_number_of_judgments_can_change_and_is_no_longer_the_papers(client, manager):
    form = start(client, preset="verify", benchmark=studies.benchmark(items=4).pk)
    page = unescape(client.get(NEW, {"preset": "bivlc-choose"}).text)
    assert "BiVLC has 1." in page and "no longer" not in page
    changed = unescape(client.post(NEW, start(client, preset="bivlc-choose") | {"choose-overlap": 2, "plan": "1"}).text)
    assert "2 instead of 1, so no longer BiVLC’s number." in changed
    assert "no longer" not in client.post(NEW, form | {"verify-overlap": 5, "plan": "1"}).text  # of no paper


def test_the_plan_of_an_audit_is_for_its_target(client, manager):
    form = start(client, protocol="verify", benchmark=studies.benchmark(items=40).pk)
    form |= {"verify-strategy": "audit", "verify-overlap": 1, "verify-target_half_width": 15, "plan": 1}
    most = client.post(NEW, form).content.decode()
    assert planned(most)[""]["judgments"] == "≤ 20" and "needs at most 20 of 40 items" in most
    guessed = client.post(NEW, form | {"verify-wrong": 5}).content.decode()
    assert planned(guessed)[""]["judgments"] == "10"
    assert "If 5% of the items are wrong, the audit needs 10 of 40 items" in guessed


def test_an_audit_is_set_up_with_the_scores_of_a_model(client, manager):
    benchmark = studies.benchmark(items=4, candidates=1)
    form = start(client, protocol="verify", benchmark=benchmark.pk)
    assert "verify-scores_run" not in form  # there are none
    run = predictions.model(benchmark, {one: predictions.bivlc() for one in benchmark.items.all()}, "CLIP")
    page = client.get(NEW, {"protocol": "verify", "benchmark": benchmark.pk}).content.decode()
    assert re.search(rf'<optgroup label="{benchmark.name}">\s*<option value="{run.pk}">CLIP \(', page)
    form |= {"verify-strategy": "audit", "verify-target_half_width": 15}
    of_another = predictions.model(studies.benchmark(name="Another"), {}, "Other")
    page = client.get(NEW, {"protocol": "verify", "benchmark": benchmark.pk}).content.decode()
    assert page.index(f'<optgroup label="{benchmark.name}">') < page.index('<optgroup label="Another">')
    refused = client.post(NEW, form | {"verify-scores_run": of_another.pk}).content.decode()
    assert "Other answers “Another”, not the benchmark of this study." in refused and not Study.objects.exists()
    form["verify-scores_run"] = run.pk
    assert client.post(NEW, form).status_code == 302
    stage = Stage.objects.get()
    assert stage.scores_of.startswith("CLIP (imported ") and stage.tasks.filter(score=1).count() == 4
    shown = client.get(reverse("study-stage", args=[stage.study_id, 1])).content.decode()
    assert f"the scores of {stage.scores_of}, fixed before" in " ".join(shown.split()) and stage.scores_sha256 in shown


def test_the_plan_is_worked_out_again_without_script_and_nothing_is_set_up(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark(items=10).pk)
    changes = {f"{ONE}-overlap": 3, f"{ONE}-seconds": 36, f"{ONE}-check_rate": 25, "pay_per_hour": 12, "plan": 1}
    answer = client.post(NEW, form | changes | {"name": ""})  # a plan needs no name
    assert answer.status_code == 200 and not Study.objects.exists()
    expected = {"items": "10", "judgments": "30", "annotators": "3"}
    expected |= {"hours": "24 min", "each": "8 min", "cost": "4.80 USD"}
    assert planned(answer.content.decode()) == {"": expected}


@pytest.mark.parametrize("protocol", [ONE, "verify", "hard-positive-rank"])
def test_practice_is_set_up_only_where_there_can_be_any(client, manager, protocol):
    path = f"{NEW}?protocol={protocol}&benchmark={studies.benchmark().pk}"
    html = client.get(path).text
    has = [f'name="{protocol}-{field}"' in html for field in StageForm.OF_PRACTICE]
    assert has == [PROTOCOLS[protocol].form is None] * 4
    assert ("undo, checks and practice" in html) == (NO_CHECKS not in unescape(html)) == all(has)


def test_percents_come_back_as_they_were_typed(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk) | {f"{ONE}-check_rate": "12.5", "plan": 1}
    again = shown(client.post(NEW, form).content.decode())
    assert again[f"{ONE}-check_rate"] == ["12.5"]
    client.post(NEW, again | {"name": "Round 1"})
    assert Stage.objects.get().check_rate == 0.125


def choose(client, form: dict, start: str) -> dict:
    """The form after the button of another starting point, as it would be sent."""
    page = client.post(NEW, form | {"choose": start})
    assert page.status_code == 200
    return shown(page.content.decode())


def test_choosing_another_preset_keeps_what_was_typed_and_nothing_else(client, manager):
    form = start(client, preset="bivlc", benchmark=studies.benchmark().pk)
    own = {"choose-instructions": "My\r\nown.", "choose-overlap": "two", "choose-check_rate": "2.5"}
    form |= own | {"pay_per_hour": "15", "paused": "on", "i2t-apart_from": ["choose"], "name": "It's <mine>"}
    one = choose(client, form, "preset:bivlc-choose")
    assert {name: one[name] for name in own} == {name: [value] for name, value in own.items()}
    assert (one["name"], one["pay_per_hour"], one["paused"]) == (["It's <mine>"], ["15"], ["on"])
    assert (one["choose-batch_size"], one["currency"]) == (["100"], ["USD"])
    verify = choose(client, one, "protocol:verify")
    assert verify["pay_per_hour"] == ["15"] and verify["verify-overlap"] == ["3"]
    again = choose(client, verify, "preset:bivlc")
    assert {name: again[name] for name in own} == {name: [value] for name, value in own.items()}
    assert again["i2t-apart_from"] == ["choose"] and not Study.objects.exists()


def test_two_stages_with_the_same_question_keep_their_own_values(client, manager):
    plans = [StagePlan("verify", "first"), StagePlan("verify", "second", source="first")]
    study = studies.study(stages=plans, created_by=manager)
    form = start(client, copy=study.pk) | {"first-overlap": "7"}
    again = choose(client, choose(client, form, "preset:bivlc"), f"copy:{study.pk}")
    assert (again["first-overlap"], again["second-overlap"]) == (["7"], ["1"])


def test_what_was_not_touched_follows_the_preset(client, manager):
    form = start(client, preset="bivlc", benchmark=studies.benchmark().pk)
    for preset in ("verify", "bivlc"):
        form = choose(client, form, f"preset:{preset}")
        plain = shown(client.get(NEW, {"preset": preset}).content.decode())
        same = {name: value for name, value in form.items() if name not in {"kept", "name", "csrfmiddlewaretoken"}}
        assert same == {name: plain[name] for name in same}


def test_the_plan_counts_what_was_kept(client, manager):
    form = start(client, preset="verify", benchmark=studies.benchmark(items=10).pk) | {"verify-overlap": 7}
    page = client.post(NEW, form | {"choose": "protocol:verify"}).content.decode()
    assert planned(page)[""]["judgments"] == "70"


def offered(html: str) -> tuple[list[str], dict[str, list[str]]]:
    """The starting points that can be chosen, and the others by the reason with the way out."""
    step = html.partition('id="offers"')[2].partition("</section>")[0]
    reasons = {}
    for titles, reason in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", step, re.S):
        reasons[" ".join(re.sub("<[^>]*>", "", reason).split())] = re.findall("<span>([^<]*)</span>", titles)
    return re.findall(r'name="choose" value="([^"]+)"', step), reasons


def test_presets_that_do_not_fit_the_benchmark_say_why(client, manager):
    html = client.get(NEW, {"benchmark": studies.benchmark(candidates=0).pk}).content.decode()
    fitting, reasons = offered(html)
    assert fitting[0] == "protocol:image-caption-foil" and "preset:verify" in fitting
    assert "protocol:verify" not in fitting  # which is the same
    assert "protocol:prompt-fit" in fitting and "protocol:bivlc-choose" not in fitting
    assert 'data-stage="image-caption-foil"' in html  # which shows all that an item has
    assert reasons["need 2 to 9 candidate images per item; the first item has none. Generate them"] == [
        "BiVLC, complete",
        "BiVLC, choose the image",
        "Choose the image that fits",
    ]
    fitting, reasons = offered(client.get(NEW, {"benchmark": studies.benchmark(candidates=1).pk}).content.decode())
    assert "preset:bivlc" not in fitting and any("has 1." in reason for reason in reasons)
    fitting, _ = offered(client.get(NEW, {"benchmark": studies.benchmark().pk}).content.decode())
    assert fitting[0] == "preset:bivlc" and "preset:bivlc-choose" in fitting  # the best first


def test_a_card_says_what_is_asked_what_nobody_sees_and_what_comes_out(client, manager):
    html = client.get(NEW, {"benchmark": studies.benchmark(candidates=0).pk}).text
    cards = [" ".join(re.sub("<[^>]*>", " ", one).split()) for one in re.findall('<li class="ask".*?</li>', html, re.S)]
    foil, verify = (next(one for one in cards if one.startswith(title)) for title in ("Caption or hard", "Verify"))
    gives = "Kept or dropped · 3 judgments per item"
    assert foil.endswith(f"fits best Which sentence is true of the picture? {gives}")
    describe = next(one for one in cards if one.startswith("Describe"))
    assert "Written texts · 1 judgment per item" in describe  # it drops nothing
    assert f"{gives} · not shown: hard negative" in verify
    assert len(cards) == 9 and f"<summary>{len(cards) - 8} more fits " in html


def test_a_published_question_that_differs_from_its_namesake_says_so(client, manager):
    publish(text=library.text_of("prompt-fit").replace("How well does", "How closely does"), by="test")
    html = client.get(NEW, {"benchmark": studies.benchmark(candidates=0).pk}).text
    titles = [" ".join(re.sub("<[^>]*>", " ", one).split()) for one in re.findall("<h2>.*?</h2>", html, re.S)]
    fit = "Rate how well a picture fits its text"
    assert [one for one in titles if one.startswith(fit)] == [f"{fit} published version 1", fit]


def test_a_question_is_seen_on_the_benchmarks_first_item(client, manager):
    benchmark = studies.benchmark(items=2, candidates=0)
    asked = {"benchmark": benchmark.pk, "preset": "verify"}
    page = client.get(SCREEN, asked)
    assert benchmark.items.first().captions.get(role="positive").text in page.text and "inert" in page.text
    assert page["X-Frame-Options"] == "SAMEORIGIN" and "frame-ancestors 'self'" in page["Content-Security-Policy"]
    assert client.get(SCREEN, asked | {"preset": "bivlc"}).status_code == 404  # there are no candidates


def step(html: str) -> str:
    return re.search(r'<section class="step" id="(\w+)"[^>]*data-shown', html)[1]


def test_a_page_shows_the_step_that_comes_next_or_has_a_mistake(client, manager):
    benchmark = studies.benchmark(candidates=0).pk
    assert step(client.get(NEW, {"benchmark": benchmark}).text) == "question"
    assert step(client.get(NEW, {"benchmark": benchmark, "preset": "bivlc"}).text) == "question"  # it does not suit
    form = start(client, preset="verify", benchmark=benchmark)
    assert step(client.get(NEW, {"benchmark": benchmark, "preset": "verify"}).text) == "people"
    for wrong, shown_step in (
        ({"name": ""}, "texts"), ({"verify-instructions": ""}, "texts"), ({"pay_per_hour": "", "name": ""}, "people"),
        ({"verify-cap": 1}, "people"), ({"benchmark": 0, "name": ""}, "question"),
    ):  # fmt: skip
        assert step(client.post(NEW, form | wrong).text) == shown_step, wrong


def test_as_one_types_only_the_plan_is_sent(client, manager):
    form = start(client, preset="verify", benchmark=studies.benchmark(items=10).pk) | {"plan": 1}
    plan = client.post(NEW, form, headers={"HX-Request": "true"}).text
    assert (
        planned(plan)[""]["judgments"] == "30" and "2.8% of majority answers are wrong" in plan and "<form" not in plan
    )
    assert "3+ people" in plan.split('id="plan-line"')[1]
    read = client.post(NEW, form | {"verify-instructions": "Look **well**."}, headers={"HX-Request": "true"}).text
    assert "<strong>well</strong>" in read.split('id="seen"')[1]
    wrong = client.post(NEW, form | {"verify-overlap": 0}, headers={"HX-Request": "true"})
    assert "to see the plan: Judgments per item." in " ".join(wrong.text.split()) and wrong.status_code == 200


def test_a_single_stage_has_one_sample_and_several_say_whose_each_is(client, manager):
    benchmark = studies.benchmark(items=4).pk
    one, several = (client.get(NEW, {"preset": name, "benchmark": benchmark}).text for name in ("verify", "bivlc"))
    assert 'name="verify-sample"' in one and 'name="part_sample"' not in one
    assert "Random sample for all stages" in several and 'name="choose-sample"' in several
    copied = client.post(
        NEW, start(client, preset="verify", benchmark=benchmark) | {"part_sample": 2, "plan": "1"}
    ).text
    assert 'name="part_sample" value="2"' in copied  # what a duplicated study has can be seen


def test_a_name_is_proposed_that_no_study_has(client, manager):
    benchmark = studies.benchmark(name="Scenes")
    for name in ("", " 2", " 3"):
        form = shown(client.get(NEW, {"preset": "verify", "benchmark": benchmark.pk}).text)
        assert form["name"] == [f"Verify captions on Scenes{name}"] and form["title"] == ["Scenes"]
        assert client.post(NEW, form).status_code == 302


def test_roles_that_the_benchmark_calls_otherwise_are_guessed_and_can_be_chosen(client, manager):
    benchmark = studies.benchmark(items=2, candidates=0)
    ItemImage.objects.filter(item__benchmark=benchmark).update(role="scene")
    Caption.objects.filter(item__benchmark=benchmark, role="negative").update(role="foil")
    Caption.objects.filter(item__benchmark=benchmark, role="positive").update(role="true_one")
    html = client.get(NEW, {"benchmark": benchmark.pk, "protocol": "prompt-fit"}).content.decode()
    form = {**shown(html), "name": "Mapped"}
    assert form["prompt-fit-role_images.picture"] == ["scene"]
    refused = client.post(NEW, form | {"prompt-fit-role_texts.prompt": "elsewhere"})
    assert refused.status_code == 422 and not Study.objects.exists()
    client.post(NEW, form | {"prompt-fit-role_texts.prompt": "true_one"})
    stage = Study.objects.get().stages.get()
    assert stage.protocol == "prompt-fit@1:images.picture=scene,texts.prompt=true_one"
    assert stage.tasks.first().shows == ["caption-true_one-0", "scene-0"]
    both = client.get(NEW, {"benchmark": benchmark.pk, "protocol": "image-caption-foil"}).text
    assert all(f"The {kind} “positive” in the question is" in both for kind in ("picture", "text"))
    again = shown(client.get(NEW, {"copy": stage.study_id, "benchmark": benchmark.pk}).content.decode())
    assert again["prompt-fit-role_texts.prompt"] == ["true_one"]


def test_stages_are_added_moved_and_removed_and_keep_what_was_typed(client, manager):
    benchmark = studies.benchmark(items=2, candidates=0)
    form = start(client, protocol="verify", benchmark=benchmark.pk)
    form |= {"verify-quota": 7, "further": "image-caption-foil", "add_stage": "1"}
    html = client.post(NEW, form).content.decode()
    form = shown(html)
    assert form["protocol"] == ["verify;image-caption-foil"] and form["verify-quota"] == ["7"]
    assert 'value="protocol:image-caption-foil;verify"' in html and 'value="protocol:verify"' in html
    client.post(NEW, form | {"name": "Two"})
    first, second = Study.objects.get().stages.all()
    assert (first.name, second.name, second.source, second.protocol) == (
        "verify", "image-caption-foil", first, "image-caption-foil@1",
    )  # fmt: skip


def test_the_plan_counts_the_tasks_of_all_items(client, manager, capsys):
    """Not the first item's: here 4 and then 2 pictures, each of which is asked about by itself."""
    benchmark = studies.benchmark(items=2, candidates=0)
    first, second = benchmark.items.order_by("position")
    for item, count in ((first, 3), (second, 1)):
        for place in range(count):
            item.item_images.create(image=studies.image(), role="positive", position=place + 1, source_name="n")
    text = EACH_PICTURE.replace("'", '"')
    form = start(client, protocol=str(publish(text=text, by="test")), benchmark=benchmark.pk)
    page = client.post(NEW, form | {"plan": "1"}).content.decode()
    assert planned(page)[""]["judgments"] == "6"
    call_command("create_study", benchmark.name, "--protocol", "each-picture@1")
    assert "6 judgments wanted" in capsys.readouterr().out
    assert Study.objects.get().stages.get().tasks.count() == 6


def test_a_part_of_the_benchmark_is_planned_and_asked_about(client, manager, capsys):
    benchmark = studies.benchmark(items=6, candidates=0)
    benchmark.items.filter(position__lt=4).update(type="swap", subtype="obj")
    form = start(client, protocol="verify", benchmark=benchmark.pk)
    form |= {"part_types": ["swap/obj"], "part_sample": 3, "verify-overlap": 2}
    form |= {"part_roles-texts.positive-least": "1", "part_roles-texts.positive-most": "1"}
    page = client.post(NEW, form | {"plan": "1"}).content.decode()
    assert planned(page)[""]["judgments"] == "6" and "swapped object (4)" in page
    wrong = client.post(NEW, form | {"part_roles-images.positive-least": "x", "part_attributes": "model"})
    assert wrong.status_code == 422
    assert all(f'id="id_{name}_error"' in wrong.content.decode() for name in ("part_roles", "part_attributes"))
    client.post(NEW, form)
    study = Study.objects.get()
    assert study.stages.get().tasks.count() == 3 and study.part["sample"] == 3
    assert study.part["roles"] == {"texts.positive": "1"}
    again = shown(client.get(NEW, {"copy": study.pk, "benchmark": benchmark.pk}).content.decode())
    assert (again["part_types"], again["part_sample"]) == (["swap/obj"], ["3"])
    assert [again[f"part_roles-texts.positive-{end}"] for end in ("least", "most")] == [["1"], ["1"]]
    options = ("--only-types", "swap/obj", "--only-roles", "texts.positive=1", "--only-sample", "2", "--overlap", "2")
    call_command("create_study", benchmark.name, "--protocol", "verify", "--name", "Command", *options)
    assert "4 judgments wanted" in capsys.readouterr().out
    with pytest.raises(CommandError, match="begin the role with"):
        call_command("create_study", benchmark.name, "--protocol", "verify", "--only-roles", "positive=1")


def test_a_refusal_leads_to_each_field_and_says_why_there_too(client, manager):
    form = start(client, preset="bivlc", benchmark=studies.benchmark().pk)
    wrong = {"name": "", "i2t-sample": "0", "choose-overlap": "0", "choose-kept": 101}  # a share of more than all
    page = client.post(NEW, form | wrong).content.decode()
    [alert] = re.findall(r'role="alert"(.*?)</section>', page, re.S)
    assert "The study was not created" in alert
    assert re.findall('href="#([^"]+)"', alert) == ["id_name", "id_choose-overlap", "id_choose-kept", "id_i2t-sample"]
    assert page.count('class="errorlist"') == 4 and 'id="id_choose-kept_error"' in page


def test_many_items_that_do_not_suit_are_counted_and_folded(client, manager):
    form = start(client, protocol="bivlc-disambiguate", benchmark=studies.benchmark(items=30).pk)
    page = client.post(NEW, form).content.decode()
    [alert] = re.findall(r'role="alert"(.*?)</section>', page, re.S)
    first, _, rest = alert.partition("<details>")
    assert "30 items do not suit stage bivlc-disambiguate." in first and first.count("<li>") + rest.count("<li>") == 22


EACH_PICTURE = """{'winnow': 'protocol/1', 'name': 'each-picture', 'title': 'Each', 'ask': 'How good?',
'instructions': 'Look.', 'item': {'images': {'positive': '1..'}}, 'tasks': {'each': {'one': ['images.positive']}},
'screen': [{'picture': 'one'}], 'answers': [{'name': 'good', 'kind': 'scale', 'points': 5}]}"""
COPIED = {"id", "study_id", "invite", "seed", "source_id", "after_id"}


def columns_of(study: Study) -> list[dict]:
    return [{name: value for name, value in row.items() if name not in COPIED} for row in study.stages.values()]


def texts_of(study: Study) -> list[tuple]:
    newest = [stage.instructions.latest("version") for stage in study.stages.all()]
    return [(one.text, one.translations) for one in newest]


@pytest.fixture
def own_study(manager) -> Study:
    """Every kind of setting is not the default one; the second stage has instructions of its own in two languages."""
    choose, disambiguate, *baseline = PRESETS["bivlc"].stages
    questions = [{"question": "Which?", "options": ["this", "that"], "answer": 1}]
    choose = choose.with_settings(overlap=3, check_rate=0.25, comprehension=questions, takes=["kept"], cap=5)
    study = studies.study(
        items=2, stages=[choose, disambiguate, *baseline], created_by=manager, language="de", currency="EUR",
        pay_per_hour=Decimal("9.50"), consent="I\nagree.",
    )  # fmt: skip
    own = {"es": "Mira bien.", "ar": "انظر"}
    revise_instructions(stage=study.stages.get(name="disambiguate"), text="Schau hin.", translations=own, by="test")
    return study


def test_a_duplicate_has_every_setting_and_text(client, manager, own_study):
    other = studies.benchmark(items=3)
    form = start(client, copy=own_study.pk, benchmark=other.pk)
    assert form["disambiguate-instructions_ar"] == ["انظر"] and "choose-instructions_es" not in form
    client.post(NEW, form)
    copy = Study.objects.get(name="Round 1")
    assert (copy.benchmark, columns_of(copy), texts_of(copy)) == (other, columns_of(own_study), texts_of(own_study))
    for stage, original in zip(copy.stages.all(), own_study.stages.all(), strict=True):
        for way in ("source", "after"):
            assert getattr(getattr(stage, way), "name", "") == getattr(getattr(original, way), "name", "")
    of_study = ("language", "currency", "pay_per_hour", "consent")
    assert [getattr(copy, name) for name in of_study] == [getattr(own_study, name) for name in of_study]


def test_a_duplicate_has_copies_of_the_images(client, manager, own_study):
    stage, text = own_study.stages.get(name="choose"), "Look: ![a hand](hand)"
    original = instructions_images.add(stage=stage, file_name="hand.png", data=pictures.draw(1, 64, 48), by="test")
    revise_instructions(stage=stage, text=text, translations={"es": text}, by="test")
    form = start(client, copy=own_study.pk)
    assert "Leave out the image “hand”" in client.post(NEW, form | {"save": "1", "save_as": "Mine"}).text
    client.post(NEW, form)
    copy = InstructionsImage.objects.get(stage__study__name="Round 1")
    assert (copy.stage.name, copy.name) == ("choose", "hand") and copy.opaque != original.opaque
    assert texts_of(copy.stage.study) == texts_of(own_study)
    call_command("delete_study", own_study.name, "--yes")
    page = client.get(reverse("study-instructions", args=[copy.stage.study_id])).text
    assert f'<img src="/instructions/{copy.opaque}.jpg" alt="a hand" width="64" height="48">' in page
    assert client.get(f"/instructions/{copy.opaque}.jpg").status_code == 200


@pytest.mark.parametrize("name", ["study-new", "protocol-list"])
def test_an_archived_benchmark_is_offered_only_by_its_address(client, manager, name):
    studies.benchmark(items=1)
    archived = studies.benchmark(items=1)
    Benchmark.objects.filter(pk=archived.pk).update(archived=True)
    option = f'<option value="{archived.pk}"'
    assert option not in client.get(reverse(name)).text
    assert f"{option} selected>" in client.get(reverse(name), {"benchmark": archived.pk}).text


@pytest.mark.parametrize(("same", "checks"), [(True, ["candidate-1"]), (False, None)])
def test_a_duplicate_has_the_checks_if_its_benchmark_is_the_same(client, manager, own_study, same, checks):
    stage, item = own_study.stages.get(name="choose"), own_study.benchmark.items.first()
    attention_checks.set_checks(stage=stage, answers={item: ["candidate-1"]}, by="test")
    other = own_study.benchmark if same else studies.benchmark(items=3)
    client.post(NEW, start(client, copy=own_study.pk, benchmark=other.pk))
    copied = Stage.objects.get(study__name="Round 1", name="choose")
    assert [task.gold for task in copied.tasks.filter(kind="check")] == ([checks] if checks else [])
    page = client.get(reverse("study-stage", args=[copied.study_id, copied.position])).text
    assert ("25% of the screens are checks" in page) == same


def test_a_duplicate_proposes_a_name_and_can_be_changed(client, manager, own_study):
    page = client.get(NEW, {"copy": own_study.pk}).content.decode()
    form = shown(page)
    assert form["name"] == [f"{own_study.name} (copy)"] and f"Copy of {own_study.name}" in page
    client.post(NEW, form | {"disambiguate-instructions_es": "", "disambiguate-overlap": "4"})
    stage = Stage.objects.get(study__name=form["name"][0], name="disambiguate")
    assert (stage.overlap, stage.instructions.get().translations) == (4, {"ar": "انظر"})


def test_only_managers_of_a_study_duplicate_it(client, own_study):
    viewer = User.objects.create_user("vera", is_staff=True)
    client.force_login(viewer)
    assert client.get(NEW, {"copy": own_study.pk}).status_code == 404
    members.add(study=own_study, user=viewer, role="viewer", by="test")
    assert client.get(NEW, {"copy": own_study.pk}).status_code == 403
    assert client.get(NEW, {"copy": "x"}).status_code == 404


def test_a_template_keeps_the_settings_and_is_deleted_again(client, manager, own_study):
    form = start(client, copy=own_study.pk) | {"name": "Later", "choose-overlap": "4"}
    saved = client.post(NEW, form | {"save": 1, "save_as": "Ours"})
    template = StudyTemplate.objects.get()
    assert (template.name, template.created_by, Study.objects.count()) == ("Ours", manager, 1)
    colleague = User.objects.create_user("carl", is_staff=True)
    client.force_login(colleague)
    page = client.get(saved.url).content.decode()
    assert f'value="template:{template.pk}"' in page and shown(page)["name"] == ["Later"]
    client.post(NEW, start(client, template=template.pk, benchmark=own_study.benchmark_id))
    made = Study.objects.get(name="Round 1")
    first, *others = columns_of(own_study)
    assert columns_of(made) == [{**first, "overlap": 4}, *others] and texts_of(made) == texts_of(own_study)
    assert (made.language, made.consent, made.pay_per_hour) == ("de", "I\nagree.", Decimal("9.50"))
    for who, may in ((colleague, False), (manager, True)):
        client.force_login(who)
        assert ('name="delete"' in client.get(saved.url).text) == may
        answer = client.post(NEW, {"template": template.pk, "delete": 1})
        assert answer.status_code == (302 if may else 403)
    assert client.get(NEW, {"template": template.pk}).status_code == 404
    events = Event.objects.filter(subject=f"studytemplate:{template.pk}").order_by("pk").values_list("verb", "by")
    assert list(events) == [("saved", f"user:{manager.pk}"), ("deleted", f"user:{manager.pk}")]


def test_a_template_outlives_what_it_names(client, manager):
    """A setting that is no more is left out; a template of a question that is no more is not offered."""
    studies.benchmark()
    study = {"pay_per_hour": "12", "currency": "USD", "language": "en", "consent": ""}
    for name, protocol in (("Fine", "verify"), ("Gone", "no-more")):
        stages = [{"protocol": protocol, "settings": {"overlap": 4, "no_more": 1}}]
        StudyTemplate.objects.create(name=name, setup={"study": study, "stages": stages})
    page = client.get(NEW).text
    assert ">Fine<" in page and ">Gone<" not in page
    fine, gone = StudyTemplate.objects.order_by("name")
    assert client.get(NEW, {"template": gone.pk}).status_code == 404
    client.post(NEW, start(client, template=fine.pk))
    assert Stage.objects.get().overlap == 4


def test_a_template_that_cannot_be_saved_says_why(client, manager):
    form = start(client, protocol=ONE, benchmark=studies.benchmark().pk) | {"name": "", "save": 1}
    client.post(NEW, form | {"save_as": "Taken"})
    wrong = f"{ONE}-overlap"
    for changes, field in (({"save_as": ""}, "save_as"), ({"save_as": "Taken"}, "save_as"), ({wrong: 0}, wrong)):
        answer = client.post(NEW, form | {"save_as": "New"} | changes)
        page = answer.content.decode()
        assert answer.status_code == 422 and f'id="id_{field}_error"' in page and "The template was not saved." in page
        assert page.count('class="errorlist"') == StudyTemplate.objects.count() == 1


def test_without_a_benchmark_there_is_a_way_to_one(client, manager):
    page = client.get(NEW).content.decode()
    assert "Import one" in page and 'id="new-study"' not in page


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
    printed = said(capsys, "Small", "--preset", "bivlc", "--pay", "12", "--url", "https://lab.example/")
    study = Study.objects.get()
    assert (study.name, study.pay_per_hour, study.currency) == ("Small, bivlc", 12, "USD")
    for stage in study.stages.all():
        assert f"https://lab.example{reverse('join', args=[stage.invite])}" in printed
    assert f"Invite annotators: https://lab.example{reverse('join', args=[study.invite])}" in printed
    stages = PRESETS["bivlc"].stages
    for number, one in enumerate(expected_effort(stages, items=10, assumed=default_assumptions(stages), pay=12), 1):
        words = effort_in_words(one, "USD")
        assert f"{number} {one.stage}: {words['judgments']} judgments wanted, {words['hours']}" in printed
    assert "1 choose: 20 judgments wanted, 4 min, 0.80 USD, 2 annotators" in printed
    assert "2 disambiguate: ≈ 7 judgments wanted" in printed and "In all: ≈ " in printed


def test_the_command_changes_any_value_of_any_stage(capsys):
    studies.benchmark(items=3, name="Small")
    changes = ["choose.overlap=2", "choose.agreement_items=none", "choose.agreement_overlap=", "i2t.check_rate=5"]
    changes += ["i2t.stratify=yes", "t2i.stratify=no", "disambiguate.strategy=pool"]
    changes += ["disambiguate.cap=5", "disambiguate.certainty=90"]
    said(capsys, "Small", "--preset", "bivlc", "--sample", "2", *(f"--set={change}" for change in changes))
    choose, disambiguate, i2t, t2i = Study.objects.get().stages.all()
    assert (choose.overlap, choose.agreement_items, disambiguate.strategy) == (2, None, "pool")
    assert (i2t.check_rate, i2t.stratify, t2i.stratify, i2t.sample, t2i.sample) == (0.05, True, False, 2, 2)
    assert (choose.sample, disambiguate.sample) == (None, None)
    assert (disambiguate.cap, disambiguate.certainty) == (5, 0.9)


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
        (["--preset", "verify", "--sample", "2"], "No stage in verify draws a sample"),
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
        *["--overlap", "2", "--pay", "12", "--lease", "300", "--paused"],
        "--consent",
        str(words),
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
    with pytest.raises(CommandError, match="has 1 candidate image;"):
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


@pytest.mark.parametrize("kept", ["[" * 100_000, "{", "[1]", '{"a": 1}', '{"": 5}', '"x"'])
def test_what_a_page_kept_may_be_tampered_with(kept):
    assert read_kept(kept) == {}


@pytest.mark.django_db
def test_a_plan_counts_all_items_and_the_tasks_of_a_sample(monkeypatch):
    items = studies.benchmark(items=40).items.all()
    every = setup.size_of(items, [StagePlan("bivlc-choose")])
    monkeypatch.setattr(setup, "SAMPLED", 10)
    assert setup.size_of(items, [StagePlan("bivlc-choose")]) == every and every["items"] == 40
    assert 0 < sum(count for _, count in queries.shapes(queries.one_in(4, items))) < 40
