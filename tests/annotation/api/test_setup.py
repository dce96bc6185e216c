"""New studies and protocol files through the API: the form of the page, with the starting point's settings."""

import pytest
from django.urls import reverse

from annotation.designs.presets import PRESETS
from annotation.models import Member, Stage, Study
from annotation.protocols import library
from benchmarks.models import Event
from tests.annotation.api.writing import made, post
from tests.annotation.studies.test_setup_pages import NEW, start
from tests.builders import studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def benchmark(module_world):
    return studies.benchmark(items=3)


def errors(answer) -> dict[str, str]:
    return {one["field"]: one["remedy"] for one in answer.json()["errors"]}


def test_a_study_starts_from_a_preset(client, manager, benchmark):
    answer = post(client, "api-study-list", name="Round 1", benchmark=benchmark.pk, preset="bivlc", expects=201)
    found, study = answer.json(), Study.objects.get()
    assert answer["Location"] == reverse("api-study-detail", args=[study.pk])
    assert [stage["name"] for stage in found["stages"]] == [stage.stage_name for stage in PRESETS["bivlc"].stages]
    assert found["link"] == f"http://testserver/join/{study.invite}/" and found["state"] == "open"
    assert client.get(found["link"]).status_code == 200
    assert Member.objects.get(study=study).user == manager and found["role"] == "owner"
    assert Event.objects.filter(verb="created", subject=f"study:{study.pk}", by=f"user:{manager.pk}").exists()


def test_it_is_the_study_that_the_page_would_make(client, manager, benchmark):
    """Whatever a stage's form has: what is not given is as the page shows it."""
    made(client, "api-study-list", name="By script", benchmark=benchmark.pk, protocol="bivlc-choose")
    client.post(NEW, start(client, protocol="bivlc-choose", benchmark=benchmark.pk) | {"name": "By hand"})
    script, hand = (Study.objects.get(name=name).stages.get() for name in ("By script", "By hand"))
    own = {"id", "study", "invite", "seed", "order_sha256"}
    for field in Stage._meta.concrete_fields:
        assert field.name in own or getattr(script, field.attname) == getattr(hand, field.attname), field.name


@pytest.mark.parametrize(
    ("other", "field"),
    [
        ({}, None),
        ({"pay_per_hour": "13"}, "pay_per_hour"),
        ({"language": "es"}, "language"),
        ({"title": "Cups"}, "title"),
        ({"consent": "I agree."}, "consent"),
        ({"part": {"sample": 1}}, "part"),
        ({"stages": {"1": {"overlap": 2}}}, "stages.verify.overlap"),
        ({"stages": {"verify": {"instructions": "Look."}}}, "stages.verify.instructions"),
        ({"stages": {"verify": {"sample": 1}}}, "stages.verify.sample"),
        ({"protocol": "bivlc-choose"}, "protocol"),
        ({"protocols": ["verify", "bivlc-choose"], "protocol": None}, "protocols"),
        ({"protocol": None, "preset": "bivlc"}, "preset"),
        ({"roles": {"captions.positive": "negative", "captions.negative": "positive"}}, "protocol"),
    ],
)
def test_the_same_order_gives_the_same_study_and_another_is_refused(client, manager, benchmark, other, field):
    order = {"name": "Once", "benchmark": benchmark.pk, "protocol": "verify", "part": {"sample": 2}}
    first = made(client, "api-study-list", **order)
    order |= {"skip_stored": True} | other
    order = {name: value for name, value in order.items() if value is not None}
    answer = post(client, "api-study-list", **order, expects=409 if field else 201).json()
    if field:
        assert answer["code"] == "EXISTS_OTHERWISE" and [one["field"] for one in answer["errors"]] == [field]
    else:
        assert answer["id"] == first["id"] and Study.objects.count() == 1


@pytest.mark.parametrize(
    "order",
    [
        {"preset": "bivlc"},
        {"protocol": "verify", "stages": {"verify": {"strategy": "audit", "target_half_width": 0.04}}},
        {"protocols": ["verify", "image-caption-foil"], "part": {"sample": 2}},
    ],
)
def test_an_order_can_be_sent_again(client, manager, benchmark, order):
    order |= {"name": "Once", "benchmark": benchmark.pk, "skip_stored": True}
    assert len({made(client, "api-study-list", **order)["id"] for _ in range(2)}) == 1


def test_a_newer_version_of_a_question_is_another_study(client, manager, benchmark):
    text = library.text_of("verify")
    versions = [made(client, "api-protocol-list", text=text + more)["version"] for more in ("", "# stricter\n")]
    orders = [{"name": "Once", "benchmark": benchmark.pk, "protocol": name, "skip_stored": True} for name in versions]
    found = [post(client, "api-study-list", **order).status_code for order in (orders[0], *orders)]
    assert found == [201, 201, 409]


def test_what_was_changed_since_is_compared_only_if_it_is_given(client, manager, benchmark):
    order = {"name": "Once", "benchmark": benchmark.pk, "preset": "bivlc", "skip_stored": True}
    study = Study.objects.get(pk=made(client, "api-study-list", **order)["id"])
    study.stages.update(quota=7)
    Study.objects.update(pay_per_hour=20, title="Cups")
    assert made(client, "api-study-list", **order)["id"] == study.pk
    answer = post(client, "api-study-list", **order, stages={"choose": {"quota": 9}}, expects=409).json()
    assert "quota is 7 in the study, not 9" in answer["detail"]


def test_settings_are_in_the_units_of_the_api(client, manager, benchmark):
    settings = {
        "overlap": 5, "cap": 7, "tie_rule": "none", "strategy": "batches", "batch_size": 2, "quota": None,
        "check_rate": 0.2, "practice_pass": 1, "auto_advance": True, "instructions": "Look\nwell.",
    }  # fmt: skip
    of_study = {"pay_per_hour": "11.50", "currency": "eur", "language": "eu", "consent": "I agree.", "paused": True}
    body = {"name": "R", "benchmark": benchmark.pk, "protocol": "bivlc-choose", "stages": {"bivlc-choose": settings}}
    found = made(client, "api-study-list", **body, **of_study)
    study = Study.objects.get()
    stage, told = study.stages.get(), client.get(f"/api/v1/studies/{study.pk}/stages/1/").json()["settings"]
    words = settings.pop("instructions")
    assert {name: told[name] for name in settings} == settings and stage.instructions.get().text == words
    assert (found["state"], found["pay_per_hour"], found["currency"]) == ("paused", "11.50", "EUR")
    assert (study.language, study.consent) == ("eu", "I agree.")
    made(client, "api-study-list", **{**body, "name": "By number", "stages": {"1": {"overlap": 4}}})
    assert Study.objects.latest("pk").stages.get().overlap == 4


WRONG = [
    ({}, "preset", "Send one of"),
    ({"preset": "bivlc", "protocol": "verify"}, "preset", "Send one of"),
    ({"preset": "nothing"}, "preset", "not a valid choice"),
    ({"protocol": "nothing@1"}, "protocol", "There is no protocol nothing@1"),
    ({"template": "Ours"}, "template", "no template"),
    ({"protocol": "verify", "benchmark": 0}, "benchmark", "no benchmark"),
    ({"protocol": "verify", "benchmark": 10**30}, "benchmark", "no benchmark"),
    ({"protocol": "verify", "name": "Taken", "stages": {"1": {"strategy": "batches"}}}, "name", "already exists"),
    ({"protocol": "verify", "stages": {"choose": {}}}, "stages.choose", "The stages are verify."),
    ({"protocol": "verify", "stages": {"verify": {"colour": 1}}}, "stages.verify.colour", "no such field"),
    ({"protocol": "verify", "stages": {"verify": {"overlap": 99}}}, "stages.verify.overlap", "50"),
    ({"protocol": "verify", "stages": {"verify": {"check_rate": 20}}}, "stages.verify.check_rate", "0.5"),
    ({"protocol": "verify", "stages": {"verify": {"promotion": "closing"}}}, "stages.verify.promotion", "Leave it out"),
    ({"protocol": "verify", "stages": {"verify": {"tie_rule": "open"}}}, "stages.verify.tie_rule", "drop, first, none"),
    (
        {"protocol": "image-caption-foil", "stages": {"1": {"tie_rule": "open"}}},
        "stages.image-caption-foil.tie_rule",
        "Leave it out",
    ),
    ({"protocol": "verify", "stages": {"verify": {"strategy": "batches"}}}, "stages.verify.batch_size", "Enter the"),
    ({"protocol": "verify", "currency": "EURO"}, "currency", "3 characters"),
    ({"protocol": "sugarcrepe-compare"}, "", "sugarcrepe-compare needs 2"),
    ({"protocols": ["verify", "nothing"]}, "protocols", "There is no protocol nothing"),
    ({"protocol": "verify;verify"}, "protocol", "There is no protocol verify;verify"),
    ({"protocol": "verify", "roles": {"scene": "positive"}}, "roles", "there is no role scene"),
    ({"protocol": "verify", "part": {"keys": ["gone"]}}, "", "does not have gone"),
    ({"protocol": "verify", "part": {"roles": {"positive": "1"}}}, "part", "images. or texts."),
]


def test_items_that_do_not_suit_are_counted_with_examples_and_what_suits_them(client, manager):
    benchmark = studies.benchmark(items=30)
    answer = post(client, "api-study-list", name="R", benchmark=benchmark.pk, preset="bivlc-disambiguate", expects=400)
    found = answer.json()
    assert found["detail"].startswith("30 items do not suit stage disambiguate. Suitable questions: preset bivlc")
    assert "protocol image-caption-foil" in found["detail"] and "human-baseline" not in found["detail"]
    assert len(found["errors"]) == 21 and "image" in found["errors"][0]["remedy"]
    assert found["errors"][-1]["remedy"] == "… and 10 more."


def test_a_name_that_alone_is_wrong_is_a_conflict(client, manager, benchmark):
    order = {"name": "Once", "benchmark": benchmark.pk, "protocol": "verify"}
    made(client, "api-study-list", **order)
    answer = post(client, "api-study-list", **order, expects=409)
    assert answer.json()["code"] == "NAME_TAKEN" and "already exists" in errors(answer)["name"]


@pytest.mark.parametrize(("body", "field", "says"), WRONG)
def test_what_is_wrong_makes_no_study(client, manager, benchmark, body, field, says):
    studies.study(benchmark=benchmark, name="Taken")
    answer = post(client, "api-study-list", **{"name": "R", "benchmark": benchmark.pk} | body, expects=400)
    found = errors(answer)
    assert says in found[field]
    assert Study.objects.count() == 1


def test_several_questions_in_order_with_the_benchmarks_names_for_roles(client, manager, benchmark):
    roles = {"picture": "positive"}
    body = {"name": "R", "benchmark": benchmark.pk, "protocols": ["describe", "revise"], "roles": roles}
    body["part"] = {"attributes": {}, "sample": 1}
    found = made(client, "api-study-list", **body)
    protocols = [stage["protocol"] for stage in found["stages"]]
    assert protocols == ["describe@1:images.picture=positive", "revise@1:images.picture=positive"]
    study = Study.objects.get()
    assert study.stages.get(name="revise").source.name == "describe"
    assert study.part["sample"] == study.stages.get(name="describe").tasks.count() == 1


def test_a_protocol_file_is_published_and_asked(client, manager, benchmark):
    text = library.text_of("verify")
    first, again = (made(client, "api-protocol-list", text=text) for _ in range(2))
    assert first == again and first["version"] == "verify@1"
    listed = client.get(reverse("api-protocol-list")).json()
    assert (listed["count"], listed["results"]) == (1, [first])
    found = made(client, "api-study-list", name="R", benchmark=benchmark.pk, protocol="verify@1")
    assert found["stages"][0]["protocol"] == "verify@1"
    refused = {"stages": {"verify": {"overlap": 9, "rule": "majority"}}}
    answer = post(client, "api-study-list", name="S", benchmark=benchmark.pk, protocol="verify@1", **refused)
    assert set(errors(answer)) == {"stages.verify.rule"}


def test_a_files_problems_have_its_lines(client, manager):
    text = library.text_of("verify").replace("name: verify", "name: VERIFY\ncolour: red")
    answer = post(client, "api-protocol-list", text=text, expects=400)
    assert all(one["file"] == "protocol" and one["row"] for one in answer.json()["errors"])


def test_a_name_of_somebody_else_is_taken(client, manager, django_user_model):
    made(client, "api-protocol-list", text=library.text_of("verify"))
    client.force_login(django_user_model.objects.create_user("eve", is_staff=True))
    answer = post(client, "api-protocol-list", text=library.text_of("verify") + "\n# mine\n", expects=409)
    assert answer.json()["code"] == "NAME_TAKEN"
