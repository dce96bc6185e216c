"""`create_study` with protocol files: a published version, or a file that it publishes."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.assignment import leases
from annotation.models import ProtocolVersion, Study
from annotation.protocols import library
from benchmarks.models import Benchmark, Caption, ItemImage
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
NAME = "image-caption-foil"


def create(*given) -> str:
    out = StringIO()
    benchmark = declared.benchmark(library.shipped(NAME), items=2)
    call_command("create_study", benchmark.name, *given, stdout=out)
    return out.getvalue()


def test_a_published_version_is_asked_with_the_files_settings():
    declared.published(NAME)
    said = create("--protocol", f"{NAME}@1", "--quota", "7")
    stage = Study.objects.get().stages.get()
    assert (stage.protocol, stage.name, stage.overlap, stage.quota) == (f"{NAME}@1", NAME, 3, 7)
    assert "6 judgments wanted" in said


def test_a_file_is_published_first(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        library.text_of(NAME).replace(f"name: {NAME}", "name: mine").replace("judgments: 3", "judgments: 4")
    )
    create("--protocol-file", str(path), "--name", "Ours")
    stage = Study.objects.get(name="Ours").stages.get()
    assert (stage.protocol, stage.overlap) == ("mine@1", 4)


def test_a_study_that_cannot_be_created_publishes_nothing(tmp_path):
    path = tmp_path / "mine.yaml"
    for text, why in ((library.text_of("rank-images"), "do not suit"), ("winnow: protocol/1", "problems")):
        path.write_text(text)
        with pytest.raises(CommandError, match=why):
            create("--protocol-file", str(path))
    assert not ProtocolVersion.objects.exists() and not Study.objects.exists()


@pytest.mark.parametrize("given", [("--rule", "majority"), ("--tie-rule", "first")])
def test_what_the_file_decides_is_no_option(given):
    with pytest.raises(CommandError, match=f"decides {given[0]}. Change the file"):
        create("--protocol-file", NAME, *given)


def test_judgments_of_an_item_are_an_option_as_far_as_the_files_rule_can_decide():
    with pytest.raises(CommandError, match="Enter 2 or more"):
        create("--protocol-file", NAME, "--overlap", "1")
    assert not Study.objects.exists()
    assert "4 judgments wanted" in create("--protocol-file", NAME, "--overlap", "2")
    assert Study.objects.get().stages.get().overlap == 2


def of(file_name: str, **roles: str) -> Benchmark:
    """A benchmark that calls roles of the library's file otherwise."""
    made = declared.benchmark(library.shipped(file_name), items=2)
    for role, to in roles.items():
        Caption.objects.filter(item__benchmark=made, role=role).update(role=to)
        ItemImage.objects.filter(item__benchmark=made, role=role).update(role=to)
    return made


def test_roles_are_asked_under_the_benchmarks_names():
    """A file of the library that no study has used is published."""
    benchmark = of(NAME, positive="fitting", negative="foil")
    roles = "images.positive=fitting, captions.positive=fitting, negative=foil"
    call_command("create_study", benchmark.name, "--protocol", NAME, "--roles", roles, stdout=StringIO())
    stage = Study.objects.get().stages.get()
    assert stage.protocol == f"{NAME}@1:captions.negative=foil,captions.positive=fitting,images.positive=fitting"
    assert (stage.name, stage.tasks.first().shows) == (NAME, ["fitting-0"])
    assert sorted(stage.tasks.first().options) == ["caption-fitting-0", "caption-foil-0"]


def test_names_of_the_benchmark_are_guessed_and_told():
    benchmark, out = of(NAME, positive="caption", negative="foil"), StringIO()
    call_command("create_study", benchmark.name, "--protocol", NAME, stdout=out)
    assert Study.objects.get().stages.get().protocol.endswith("images.positive=caption")
    assert "  captions.negative is called “foil” in the benchmark" in out.getvalue().splitlines()


@pytest.mark.parametrize("given, why", [
    (("--protocol", NAME, "--roles", "foil=negative"), "--roles foil=negative: there is no role foil"),
    (("--protocol", NAME, "--roles", "positive=foil"), "name the role with its kind"),
    (("--protocol", "visla-triplet", "--roles", "positive=foil"), "there is no role positive"),
    (("--protocol", NAME, "--protocol", NAME, "--quota", "3"), "--set STAGE.FIELD=VALUE"),
    ((), "Give --preset, or --protocol"),
    (("--preset", "verify", "--protocol", NAME), "Give --preset, or --protocol"),
])  # fmt: skip
def test_what_cannot_be_asked_so_is_refused(given, why):
    with pytest.raises(CommandError, match=why):
        create(*given)


def test_several_files_become_stages_in_their_order(tmp_path):
    """The second one gets what the first has written; names and files can be mixed, and come twice."""
    path = tmp_path / "mine.yaml"
    path.write_text(library.text_of("revise"))
    benchmark = of("describe", picture="photo")
    out = StringIO()
    call_command(
        "create_study", benchmark.name, "--protocol", "describe", "--protocol-file", str(path),
        "--protocol", "revise@1", "--roles", "picture=photo", "--set", "revise-2.quota=5", stdout=out,
    )  # fmt: skip
    stages = list(Study.objects.get().stages.select_related("source"))
    assert [(one.name, one.source and one.source.name, one.quota) for one in stages] == [
        ("describe", None, None), ("revise", "describe", None), ("revise-2", "revise", 5),
    ]  # fmt: skip
    assert {one.protocol for one in stages[1:]} == {"revise@1:images.picture=photo"}
    words = "A red cup stands on a blue table. " * 8
    (lease,) = leases.hold(annotator=studies.annotator(stages[0].study), stage=stages[0], wanted=1)
    studies.submit(lease.annotator, lease, "", more={"description": words})
    assert stages[1].tasks.get().carried == {"caption-description": words.strip()}


@pytest.mark.parametrize("name", [f"{NAME}@1", f"{NAME}@x", "nothing"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(CommandError, match="There is no protocol"):
        create("--protocol", name)
    assert not Study.objects.exists()
