"""The page of who is wrong where: its lists, what a case shows, to whom, how quick."""

import pytest
from django.urls import reverse

from annotation.models import Role, Study
from annotation.studies import members
from tests.annotation.dashboard.test_human_baseline_page import answered
from tests.builders import predictions, studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def shared(module_world) -> Study:
    return answered(items=6, people=2, batch_items=6)


@pytest.fixture
def study(shared, savepoint) -> Study:
    return Study.objects.get(pk=shared.pk)


def address(study: Study, query: str = "") -> str:
    return f"{reverse('study-model-errors', args=[study.pk])}?{query}"


def read(client, study: Study, query: str = "") -> str:
    return client.get(address(study, query)).content.decode()


def scored(study: Study, right=(), **fields):
    """A model that is right about the items at these places."""
    of = {item: predictions.bivlc(item.position in right) for item in study.benchmark.items.all()}
    return predictions.model(study.benchmark, of, **fields)


def test_what_people_get_and_models_miss_is_on_screen(client, manager, study):
    scored(study, title="CLIP")
    scored(study, title="Keen", right=range(6))
    scored(study, title="SigLIP")
    context = client.get(address(study)).context
    people = [case.people for case in context["cases"]]
    assert people and all(people) and context["count"] == len(people)
    page = read(client, study)
    for shown in ("CLIP", "Keen", "2 of 3 models wrong", "−0.100", "s(c0,i0)", "right</span>", "People", "/t/"):
        assert shown in page


def test_a_filter_by_model_type_and_stage(client, manager, study):
    wrong = scored(study, title="CLIP")
    scored(study, title="Keen", right=range(6))
    assert client.get(address(study, "which=against&sort=item")).context["count"] < 12
    alone = client.get(address(study, f"which=all&model={wrong.pk}&stage=2")).context
    assert [run.title for run in alone["chosen"]] == ["CLIP"] and alone["count"] == 12
    assert all(len(case.answers) == 1 for case in alone["cases"])
    kinds = study.benchmark.items.values_list("type", flat=True)
    swapped = client.get(address(study, "which=all&type=swap")).context["count"]
    assert swapped == 2 * list(kinds).count("swap") < 12


def test_blind_models_are_left_out_until_they_are_asked_for(client, manager, study):
    scored(study, title="CLIP")
    blind = scored(study, title="Reader", blind=True)
    assert [run.title for run in client.get(address(study)).context["chosen"]] == ["CLIP"]
    assert [run.title for run in client.get(address(study, f"model={blind.pk}")).context["chosen"]] == ["Reader"]


def test_a_measured_run_says_nothing_of_an_image_that_people_chose(client, manager, study):
    stage = study.stages.get(position=2)
    task = stage.tasks.filter(question="negative").order_by("pk").first()
    task.options = ["positive-0", "candidate-1"]
    task.save()
    taken = scored(study, title="CLIP")
    whole = client.get(address(study, "which=all&stage=2")).context
    assert {len(case.answers) for case in whole["cases"]} == {1}
    taken.origin, taken.model = "measured", predictions.weights()
    taken.save()
    said = {c.seen.task: len(c.answers) for c in client.get(address(study, "which=all&stage=2")).context["cases"]}
    assert said[task.pk] == 0 and sum(said.values()) == 11


def test_a_case_leads_to_its_adjudication_with_the_reason_written_down(client, manager, study):
    scored(study, title="CLIP")
    case = client.get(address(study)).context["cases"][0]
    link = (
        f"?stage=1&task={case.seen.task}&note=Models%20disagree%3A%20people%20right%2C%201%20of%201%20models%20wrong."
    )
    page = read(client, study)
    assert link.replace("&", "&amp;") in page
    found = client.get(reverse("study-adjudicate", args=[study.pk]) + link).content.decode()
    assert "Models disagree: people right, 1 of 1 models wrong." in found


def test_people_have_pseudonyms(client, manager, study):
    for person in study.annotators.all():
        person.name = "Ana Maria"
        person.save()
    scored(study, title="CLIP")
    page = read(client, study, "which=all")
    assert "Ana Maria" not in page and "A-01" in page


def test_without_models_and_without_their_questions_it_says_so(client, manager, study):
    assert "No model has answered the questions of stage 1" in read(client, study)
    assert "No stage of this study asks" in read(client, studies.study())


def test_no_address_fails(client, manager, study):
    scored(study, title="CLIP")
    for query in ("page=99", "page=x", "model=²", f"model={'9' * 30}", "which=x&sort=y&type=x", "stage=x"):
        assert client.get(address(study, query)).status_code == 200


def test_a_viewer_looks(client, manager, study):
    scored(study, title="CLIP")
    manager.is_superuser, manager.is_staff = False, True
    manager.save()
    members.add(study=study, user=manager, role=Role.VIEWER, by="test")
    assert "1 of 1 models wrong" in read(client, study)
