"""`create_study` with protocol files: a published version, or a file that it publishes."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import ProtocolVersion, Study
from annotation.protocols import library
from tests.builders import declared

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
    for text, why in ((library.text_of("word-by-word"), "do not suit"), ("winnow: protocol/1", "problems")):
        path.write_text(text)
        with pytest.raises(CommandError, match=why):
            create("--protocol-file", str(path))
    assert not ProtocolVersion.objects.exists() and not Study.objects.exists()


@pytest.mark.parametrize("given", [("--overlap", "2"), ("--rule", "majority"), ("--tie-rule", "first")])
def test_what_the_file_decides_is_no_option(given):
    with pytest.raises(CommandError, match=f"decides {given[0]}. Change the file"):
        create("--protocol-file", NAME, *given)


@pytest.mark.parametrize("name", [f"{NAME}@1", f"{NAME}@x", "nothing"])
def test_an_unknown_protocol_is_refused(name):
    with pytest.raises(CommandError, match="There is no protocol"):
        create("--protocol", name)
    assert not Study.objects.exists()
