"""Generate parts of the client: `python client/generate.py`, with the server's packages.

`schema.py` has the API's rows, settings and filters as TypedDicts, from its description; `asynchronous.py` has each
class's asynchronous twin, from the classes' signatures.
"""

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "winnow_client"
MADE = "Made by client/generate.py: change that, not this."
ROWS = ["BenchmarkData", "StudyData", "StageData", "ItemData", "JudgmentData", "TaskData", "AnnotatorData", "FlagData"]
OPTIONS = {  # name in the client: the body in the description, and its fields with parameters of their own
    "ImportOptions": ("ImportBody", "name items data second images look check_only skip_stored"),
    "PredictionOptions": ("PredictionsBody", "model source files look skip_stored"),
    "StageOptions": ("StageBody", ""),
    "StudyOptions": ("StudyBody", "name benchmark skip_stored"),
    "SettingsOptions": ("SettingsBody", ""),
    "ReleaseOptions": ("ReleaseBody", "name version"),
}
FILTERS = {"ItemFilters": "items", "JudgmentFilters": "judgments", "TaskFilters": "tasks"}
FILTERS |= {"AnnotatorFilters": "annotators", "FlagFilters": "flags"}
PAGING = {"limit", "offset", "cursor"}
FORMATS = {"date-time": "datetime", "decimal": "str"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, object]"}
GIVEN = {  # fields for which the client accepts more than the API
    "stage": "int | str",
    "stages": "dict[str | int, StageOptions]",
    "since": "datetime | str",
    "mapping": "Mapping[str, object]",
}
STAGES = {"ReleaseOptions": "Sequence[int | str]", "SettingsOptions": "dict[str, StageOptions]"}  # instead
RENAMED = {"StageBody": "StageOptions"}
NO_BREAK = "\xa0"
MARKS = '\n\n# fmt: off\n# mypy: disable-error-code="no-any-return,import-untyped"\n'
HEAD = '"""{about} {made}"""\n\n'
CLASSES = {"jobs": ["Job"], "server": ["Server", "Benchmark"], "studies": ["Study", "Release"]}
TWINS = [name for names in CLASSES.values() for name in names]
OWN_IMPORTS = [
    "from winnow_client import jobs, server, studies",
    "from winnow_client.jobs import Made, Progress",
    "from winnow_client.server import Checked, Existing",
    "from winnow_client.threads import Asynchronous, in_thread",
]


class Schema:
    """The TypedDicts of an OpenAPI description."""

    def __init__(self, description: Mapping[str, Any]):
        self.schemas = description["components"]["schemas"]
        self.operations = {one["operationId"]: one for path in description["paths"].values() for one in path.values()}
        self.written: dict[str, str] = {}

    def text(self) -> str:
        for name in ROWS:
            self.add(name, self.schemas[name]["properties"], total=True)
        for name, (body, own) in OPTIONS.items():
            fields = self.schemas[body]["properties"]
            self.add(name, {field: of for field, of in fields.items() if field not in own.split()}, total=False)
            self.written[name] = self.written[name].replace(GIVEN["stages"], STAGES.get(name, GIVEN["stages"]))
        for name, operation in FILTERS.items():
            taken = [one for one in self.operations[operation]["parameters"] if one["in"] == "query"]
            fields = {one["name"]: one["schema"] for one in taken if one["name"] not in PAGING}
            self.add(name, fields, total=False)
        head = HEAD.format(about="Rows, settings and filters of the API (docs/reference/api.md).", made=MADE)
        head += "from collections.abc import Mapping, Sequence\nfrom datetime import datetime\n"
        head += "from typing import Literal, TypedDict\n"
        return "\n\n".join([head, *self.written.values()])

    def add(self, name: str, fields: Mapping[str, Any], total: bool) -> None:
        lines = [f"    {field}: {self.kind(of, total, field)}\n" for field, of in fields.items()]
        base = "TypedDict" if total else "TypedDict, total=False"
        self.written[name] = f"class {name}({base}):\n{''.join(lines)}"

    def kind(self, of: Mapping[str, Any], total: bool, field: str = "") -> str:
        """Return a type; rows have times as datetimes, and arguments may be numbers if the API writes text."""
        if not total and field in GIVEN:
            return GIVEN[field]
        for several in ("oneOf", "anyOf", "allOf"):
            if several in of:
                return " | ".join(dict.fromkeys(self.kind(one, total) for one in of[several]))
        if "$ref" in of:
            return self.named(of["$ref"].rpartition("/")[2], total)
        kinds = of.get("type", "object" if "additionalProperties" in of else "any")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        made = [self.single(kind, of, total) for kind in kinds] + (["None"] if of.get("nullable") else [])
        return " | ".join(dict.fromkeys(made))

    def single(self, kind: str, of: Mapping[str, Any], total: bool) -> str:
        if kind == "array":
            return f"list[{self.kind(of.get('items', {}), total)}]"
        if kind == "object" and isinstance(of.get("additionalProperties"), Mapping) and of["additionalProperties"]:
            return f"dict[str, {self.kind(of['additionalProperties'], total)}]"
        if kind == "string":
            found = FORMATS.get(of.get("format", ""), "str")
            return "float | str" if of.get("format") == "decimal" and not total else found
        return {"null": "None", "any": "object", **PLAIN}[kind]

    def named(self, name: str, total: bool) -> str:
        of = self.schemas[name]
        if "enum" in of:
            values = [value for value in of["enum"] if value not in ("", None)]
            other = " | None" if None in of["enum"] else ""
            return ("str" if total else f"Literal[{', '.join(map(repr, values))}]") + other if values else "None"
        name = RENAMED.get(name, name)
        if name not in self.written:
            self.written[name] = ""  # it must come before the type that uses it
            self.add(name, of["properties"], total)
        return name


def asynchronous() -> str:
    """Write each class's twin with the same methods to await; methods returning a class return its twin."""
    imports, bodies = [*OWN_IMPORTS], []
    for module, names in CLASSES.items():
        for node in ast.parse((PACKAGE / f"{module}.py").read_text()).body:
            if isinstance(node, ast.ImportFrom):
                node.names = [one for one in node.names if one.name not in TWINS]
            if isinstance(node, ast.Import | ast.If) or (isinstance(node, ast.ImportFrom) and node.names):
                imports.append(ast.unparse(node))
            elif isinstance(node, ast.ClassDef) and node.name in names:
                bodies.append(_twin(node, module))
            elif isinstance(node, ast.FunctionDef) and node.name == "connect":
                bodies.append(_connect(node))
    head = HEAD.format(about="The asynchronous client: the same methods, to await.", made=MADE)
    return head + "\n".join(dict.fromkeys(imports)) + MARKS + "\n\n".join(["", *bodies])


def _connect(node: ast.FunctionDef) -> str:
    doc = ast.get_docstring(node, clean=False)
    rest = ' -> "AsyncServer":'.replace(" ", NO_BREAK)
    head = _wrapped(f"async def connect_async({ast.unparse(node.args)}){rest}", 0) + f'    """{doc}"""\n'
    call = ", ".join(["server.connect", *_passed(node.args, 0)])
    return head + _wrapped(f"return AsyncServer(await in_thread({call}))", 4)


def _twin(node: ast.ClassDef, module: str) -> str:
    kind = "[Made]" if node.name == "Job" else ""
    bases = f"Asynchronous[{module}.{node.name}{kind}]" + (", Generic[Made]" if kind else "")
    lines = [f'class Async{node.name}({bases}):\n    """`{node.name}`, to await."""\n\n']
    plain = [ast.unparse(one) for one in node.body if isinstance(one, ast.AnnAssign)]
    handle = [] if node.name == "Server" else ["id: int", "name: str"]
    lines += [f"    {one}\n" for one in [*handle, "url: str", *plain]]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            lines.append(_method(one))
    return "".join(lines)


def _method(one: ast.FunctionDef) -> str:
    marks = [ast.unparse(mark) for mark in one.decorator_list]
    gives = ast.unparse(one.returns) if one.returns else "None"
    for name in TWINS:
        gives = re.sub(rf"\b{name}\b", f"Async{name}", gives)
    if "Async" in gives:
        gives = '"' + gives.replace("'", "").replace('"', "") + '"'
    rest = f" -> {gives}: ..." if "overload" in marks else f" -> {gives}:"
    head = "".join(f"    @{mark}\n" for mark in marks)
    head += _wrapped(f"async def {one.name}({ast.unparse(one.args)}){rest.replace(' ', NO_BREAK)}", 4)
    if "overload" in marks:
        return head
    called = f'getattr, self.of, "{one.name}"' if "property" in marks else f"self.of.{one.name}"
    return head + _wrapped(f"return await self._run({', '.join([called, *_passed(one.args, 1)])})", 8) + "\n"


def _wrapped(code: str, indent: int) -> str:
    first, more = " " * indent, " " * (indent + 4)
    lines = textwrap.wrap(code, 120, initial_indent=first, subsequent_indent=more, break_long_words=False)
    return "\n".join(lines).replace(NO_BREAK, " ") + "\n"


def _passed(taken: ast.arguments, first: int) -> list[str]:
    passed = [one.arg for one in taken.args[first:]] + [f"{one.arg}={one.arg}" for one in taken.kwonlyargs]
    return passed + ([f"**{taken.kwarg.arg}"] if taken.kwarg else [])


def description() -> dict[str, Any]:
    """Return the API's own description, from the server beside the client."""
    sys.path.insert(0, str(HERE.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from drf_spectacular.generators import SchemaGenerator

    found: dict[str, Any] = json.loads(json.dumps(SchemaGenerator().get_schema(public=True), default=str))
    return found


def made() -> Iterator[tuple[Path, str]]:
    yield PACKAGE / "schema.py", Schema(description()).text()
    yield PACKAGE / "asynchronous.py", asynchronous()


def formatted(text: str) -> str:
    for command in (["check", "--select", "I,F401", "--fix-only"], ["format"]):
        ruff = [Path(sys.executable).with_name("ruff"), *command, "--quiet", "--stdin-filename", PACKAGE / "made.py"]
        done = subprocess.run([*ruff, "-"], input=text, capture_output=True, text=True, check=True, cwd=HERE.parent)
        text = done.stdout
    return text


if __name__ == "__main__":
    for path, text in made():
        path.write_text(formatted(text))
