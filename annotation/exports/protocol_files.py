"""The protocol files of an export's stages, as they were published."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from annotation.models import ProtocolVersion, Stage
from annotation.protocols import roles
from annotation.protocols.registry import name_and_version, protocol_named
from annotation.protocols.schema import ProtocolFile

FOLDER = "protocols"


def path_of(protocol: str) -> str:
    """Return the file's path in an export's folder: `protocols/prompt-fit@2.yaml`."""
    return f"{FOLDER}/{roles.split(protocol)[0]}.yaml"


def _version(protocol: str) -> ProtocolVersion:
    name, number = name_and_version(protocol)
    return ProtocolVersion.objects.get(name=name, number=number)


def describe_file(protocol: str) -> dict:
    """Return the manifest's entry on a stage's protocol file."""
    version = _version(protocol)
    return {
        "name": version.name,
        "version": version.number,
        "title": version.title,
        "sha256": version.sha256,
        "path": path_of(protocol),
    }


def text_of(protocol: str) -> str:
    """Return the file's text as it was published."""
    return _version(protocol).text


def files_of(stages: Iterable[Stage]) -> Mapping[str, ProtocolFile]:
    """Return protocol files by stage name, for stages that use a published one."""
    found = {stage.name: protocol_named(stage.protocol).file for stage in stages}
    return {name: file for name, file in found.items() if file}


def write_files(stages: Collection[Stage], folder: Path) -> None:
    """Write each file's text as it was published."""
    for protocol in sorted({stage.protocol for stage in stages if protocol_named(stage.protocol).file}):
        target = folder / path_of(protocol)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(_version(protocol).text.encode())
