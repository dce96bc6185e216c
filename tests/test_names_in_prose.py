"""Modules, and names in modules, that docstrings, comments and docs mention, exist."""

import ast
import importlib.util
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("annotation", "benchmarks", "config", "workers", "tests", "bench")
NAME = re.compile(r"(?<![\w./:@-])([a-z_]\w*(?:\.[A-Za-z_]\w*)+)(?![\w/-])")
QUOTED = re.compile(r"``?([^`\n]+)``?")
FILE = re.compile(r"(?<![\w./<>*{}-])((?:[\w-]+/)*\w+\.py)\b")
TEMPLATE_COMMENT = re.compile(r"{#(.*?)#}|{% comment %}(.*?){% endcomment %}", re.S)
ENDINGS = {
    "cfg", "css", "csv", "gz", "html", "js", "json", "jsonl", "lock", "md", "parquet", "po", "py", "svg", "tar", "toml",
    "tsv", "txt", "yaml", "yml", "zip",
}  # fmt: skip
# First words that are also what code calls an object, a table of a release, or begin an event of webhooks: `study.may`,
# `decisions.state`, `release.made`.
OBJECTS = {
    "benchmark", "captions", "decisions", "export", "image", "images", "kept", "log", "page", "predictions", "release",
    "report", "rules", "server", "servers", "site", "source", "stage", "stages", "study", "table", "task", "texts",
    "webhook", "winnow",
}  # fmt: skip
# Examples, and files of releases
OTHERS = {"my_model.py", "sample.py", "annotation/waits.py", "scoring/plan.py", "lmms_eval/utils.py"}


def files_of(folders: Iterable[str], ending: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob(f"*{ending}"))


def prose(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    elif path.suffix == ".html":
        yield from (" ".join(filter(None, found)) for found in TEMPLATE_COMMENT.findall(text))
    else:
        for one in ast.walk(ast.parse(text)):
            if isinstance(one, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(one) or ""
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string


@cache
def modules() -> dict[str, list[tuple[str, ...]]]:
    """Last part of its name → every module, as the parts of its name."""
    found = defaultdict(list)
    for path in files_of((*PACKAGES, "client"), ".py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        found[parts[-1]].append(parts)
    return found


@cache
def names_in(module: tuple[str, ...]) -> set[str]:
    """What the module defines or imports, and its modules."""
    path = ROOT.joinpath(*module)
    found = {one.stem for one in path.iterdir()} if path.is_dir() else set()
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    todo: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))] if file.is_file() else []
    while todo:
        for one in ast.iter_child_nodes(todo.pop()):
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(one.name)
            elif isinstance(one, ast.Import | ast.ImportFrom):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in one.names}
            elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                found.add(one.id)
            if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                todo.append(one)  # also what is in a class, or under a condition
    return found


def missing(mention: str) -> bool:
    """Whether it begins with a module of ours and goes on with what is not in it, or names a class in no module."""
    parts = mention.split(".")
    if parts[0] in OBJECTS or parts[-1] in ENDINGS:
        return False
    for length in range(len(parts) - 1, 0, -1):
        found = [one for one in modules().get(parts[length - 1], ()) if one[-length:] == tuple(parts[:length])]
        if found:  # of the longest name that is a module's
            return not any(parts[length] in names_in(module) for module in found)
    a_class = len(parts) == 2 and parts[1][:1].isupper() and not parts[1].isupper()
    return parts[0] in PACKAGES or (a_class and importlib.util.find_spec(parts[0]) is None)


def wrong_in(path: Path, text: str, files: Iterable[str]) -> Iterator[str]:
    """What the text of such a file mentions and does not exist; in docs only what is marked as code."""
    if path.suffix == ".md":
        text = "\n".join(QUOTED.findall(text))
    yield from (name for name in NAME.findall(text) if missing(name))
    named = sorted({*FILE.findall(text)} - OTHERS)
    yield from (name for name in named if not any(f"/{one}".endswith(f"/{name}") for one in files))


def test_every_module_and_name_that_prose_mentions_exists():
    code = files_of((*PACKAGES, "client"), ".py")
    docs = [path for path in files_of(["docs"], ".md") if "adr" not in path.parts]  # decisions speak of their time
    names = [path.relative_to(ROOT).as_posix() for path in [*code, *ROOT.glob("*.py")]]
    wrong = [
        f"{path.relative_to(ROOT)}: {name} does not exist"
        for path in [*code, *files_of(["templates"], ".html"), *docs]
        for text in prose(path)
        for name in wrong_in(path, text, names)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_the_code_in_docs_imports_exists():
    blocks = {
        path: re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.S) for path in files_of(["docs"], ".md")
    }
    wrong = [
        f"{path.relative_to(ROOT)}: {one.module}.{alias.name} does not exist"
        for path, found in blocks.items()
        for block in found
        for one in ast.walk(ast.parse(block))
        if isinstance(one, ast.ImportFrom) and str(one.module).split(".")[0] in PACKAGES
        for alias in one.names
        if missing(f"{one.module}.{alias.name}")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("See benchmarks.metrics.base.wilson, `base.wilson` and metrics/base.py.", []),
        ("See `base.willson`, benchmarks.metrics.bases.wilson.", ["base.willson", "benchmarks.metrics.bases.wilson"]),
        ("A bases.Figure, of `metrics/bases.py`.", ["bases.Figure", "metrics/bases.py"]),
        ("A subprocess.Popen reads items.jsonl when `stage.opened` is sent.", []),
    ],
)
def test_what_does_not_exist_is_found(text, wrong):
    assert [*wrong_in(Path("x.py"), text, ["benchmarks/metrics/base.py"])] == wrong
