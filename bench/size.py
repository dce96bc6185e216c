"""Print how large the product is: `python -m bench.size [CHECKOUT]`, where CHECKOUT is another version's folder.

- *Product* is `annotation`, `benchmarks`, `workers` and `config` without migrations; templates are their own row.
- *Chain* is the longest path of imports at the top of modules. *One importer*: modules that a single other module
  imports, wherever in it.
- A function's lines are from `def` to its end, decorators left out.
- `--walks` adds files of the product in which a function ran while the walk's own functions did, in the tests named
  here (two minutes: it runs them in CHECKOUT, with this interpreter).
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("annotation", "benchmarks", "workers", "config")
FUNCTION, FILE = 40, 400  # lines
WALKS = {  # functions within which files count, and the tests that call them
    "judgment to figure": (
        ["annotation/judging/views.py:submit", "annotation/dashboard/views.py:study_detail"],
        [
            "tests/annotation/judging/test_pages.py::test_an_answer_stores_what_was_shown_at_that_place",
            "tests/annotation/dashboard/test_study_pages.py::test_the_page_shows_the_figures",
        ],
    ),
    "release": (
        ["annotation/releases/lifecycle.py:run_release"],
        ["tests/annotation/releases/test_lifecycle.py::test_it_is_frozen_whole"],
    ),
    "import": (["benchmarks/imports/run.py:import_files"], ["tests/benchmarks/imports/test_upload_pages.py"]),
    "model score": (
        ["benchmarks/jobs/benchmark_work.py:do"],
        ["tests/benchmarks/scoring/test_score.py::test_one_caption_more_encodes_one"],
    ),
}


def table(root: Path) -> dict[str, int]:
    """Return every row but the walks."""
    modules = modules_of(root)
    trees = [ast.parse(path.read_text()) for path in modules.values()]
    importers = Counter(name for found in imports(modules, lazy=True).values() for name in found)
    return {
        "product": sum(map(lines, modules.values())),
        "templates": sum(map(lines, (root / "templates").rglob("*.html"))),
        "tests": sum(map(lines, (root / "tests").rglob("*.py"))),
        "bench": sum(map(lines, (root / "bench").rglob("*.py"))),
        "docs": sum(map(lines, (root / "docs").rglob("*.md"))),
        "longest chain of imports": len(longest_chain(imports(modules))),
        "modules with one importer": sum(times == 1 for times in importers.values()),
        f"functions over {FUNCTION} lines": sum(size > FUNCTION for tree in trees for size in functions(tree)),
        f"files over {FILE} lines": sum(lines(path) > FILE for path in modules.values()),
    }


def lines(path: Path) -> int:
    return path.read_text().count("\n")


def functions(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of each function and method."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def modules_of(root: Path) -> dict[str, Path]:
    """Return the product's files by the names they are imported by."""
    paths = (path for package in PRODUCT for path in sorted((root / package).rglob("*.py")))
    named = {path.relative_to(root).with_suffix("").parts: path for path in paths if "migrations" not in path.parts}
    return {".".join(name[:-1] if name[-1] == "__init__" else name): path for name, path in named.items()}


def imports(modules: dict[str, Path], lazy: bool = False) -> dict[str, set[str]]:
    """Return the modules of the product that each imports: at its top or, if `lazy`, anywhere."""
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        imported: set[str] = set()
        for node in _statements(ast.parse(path.read_text()), lazy):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                inner = {alias: f"{base}.{alias}" for alias in (alias.name for alias in node.names)}
                imported |= {whole if whole in modules else base for whole in inner.values()}
        found[name] = (imported & modules.keys()) - {name}
    return found


def _statements(node: ast.AST, lazy: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if lazy or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _statements(child, lazy)


def longest_chain(imported: dict[str, set[str]]) -> tuple[str, ...]:
    @cache
    def below(name: str) -> tuple[str, ...]:
        return (name, *max(map(below, sorted(imported[name])), key=len, default=()))

    return max(map(below, imported), key=len)


def walks(root: Path) -> dict[str, int]:
    """Count the files of each walk; 0 if its tests fail or do not call its functions."""
    found = {}
    for name, (within, tests) in WALKS.items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(ROOT / "bench" / "walked_files.py", folder)
            seen = Path(folder, "seen.txt")
            own = {"PYTHONPATH": folder, "WALK_WITHIN": " ".join(within), "WALK_SEEN": str(seen)}
            options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "walked_files"]
            command = [sys.executable, "-m", "pytest", *options, *tests]
            done = subprocess.run(command, cwd=root, env=os.environ | own, capture_output=True, text=True)
            found[name] = len(seen.read_text().split()) if done.returncode == 0 else 0
            if not found[name]:
                sys.exit(f"{name}: a test failed, or none of these ran: {', '.join(within)}.\n{done.stdout[-2000:]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How large the product is.")
    parser.add_argument("checkout", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--walks", action="store_true", help="also count the files of the four walks: two minutes")
    asked = parser.parse_args()
    root = asked.checkout.resolve()
    rows = table(root)
    if asked.walks:
        rows |= {f"files of a walk: {name}": count for name, count in walks(root).items()}
    for name, count in rows.items():
        print(f"{name:36}{count:>8,}")
    print("\nlongest chain: " + " → ".join(longest_chain(imports(modules_of(root)))))


if __name__ == "__main__":
    main()
