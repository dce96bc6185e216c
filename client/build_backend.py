"""Builds the package without any other package, for PEP 517: used by pip, and by the server that offers the wheel."""

import base64
import hashlib
import io
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "winnow_client"
STAMP = (1980, 1, 1, 0, 0, 0)  # for every file, so that the same sources give the same bytes
WHEEL = "Wheel-Version: 1.0\nGenerator: winnow-client\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel() -> tuple[str, bytes]:
    """Return the wheel's file name and content."""
    project = _project()
    base = f"{_stem(project)}.dist-info"
    sources = sorted((HERE / PACKAGE).glob("*.py"))
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in [*sources, HERE / PACKAGE / "py.typed"]}
    files |= {f"{base}/licenses/{name}": (HERE / name).read_bytes() for name in project["license-files"]}
    files |= {f"{base}/METADATA": _metadata(project), f"{base}/WHEEL": WHEEL.encode()}
    record = "".join(f"{name},sha256={_hash(content)},{len(content)}\n" for name, content in files.items())
    files[f"{base}/RECORD"] = f"{record}{base}/RECORD,,\n".encode()
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return f"{_stem(project)}-py3-none-any.whl", whole.getvalue()


def build_wheel(wheel_directory: str, config_settings: Any | None = None, metadata_directory: str | None = None) -> str:
    name, content = wheel()
    Path(wheel_directory, name).write_bytes(content)
    return name


def build_sdist(sdist_directory: str, config_settings: Any | None = None) -> str:
    project = _project()
    name = f"{_stem(project)}.tar.gz"
    with tarfile.open(Path(sdist_directory, name), "w:gz") as archive:
        for path in [*sorted(HERE.glob("*.*")), HERE / "LICENSE", *sorted((HERE / PACKAGE).glob("*.*"))]:
            archive.add(path, f"{_stem(project)}/{path.relative_to(HERE)}", recursive=False)
        entry = tarfile.TarInfo(f"{_stem(project)}/PKG-INFO")
        entry.size = len(_metadata(project))
        archive.addfile(entry, io.BytesIO(_metadata(project)))
    return name


def _project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def _stem(project: dict[str, Any]) -> str:
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata(project: dict[str, Any]) -> bytes:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Author: {', '.join(one['name'] for one in project['authors'])}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        *(f"Classifier: {one}" for one in project["classifiers"]),
        *(f"Project-URL: {label}, {url}" for label, url in project.get("urls", {}).items()),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += (f'Requires-Dist: {needed}; extra == "{extra}"' for needed in needs)
    lines += [
        "Description-Content-Type: text/markdown",
        "",
        *(_text(name) for name in (project["readme"], "CHANGELOG.md")),
    ]
    return "\n".join(lines).encode()


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
