"""The shape of the house: who may import whom, and which files stay pure."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ORDER = ["config", "annotation", "benchmarks", "workers"]  # each may import itself and what stands to its right
PURE = [
    "annotation/protocols",
    "annotation/measures/aggregation.py",
    "annotation/measures/agreement.py",
    "annotation/charts/annotator_charts.py",
    "annotation/charts/annotators.py",
    "annotation/designs/baseline_plans.py",
    "annotation/measures/breakdowns.py",
    "annotation/releases/card_blocks.py",
    "annotation/measures/exact_tests.py",
    "annotation/charts/bars.py",
    "annotation/measures/coefficients.py",
    "annotation/comparison/table.py",
    "annotation/comparison/charts.py",
    "annotation/comparison/latex.py",
    "annotation/measures/annotator_behaviour.py",
    "annotation/measures/costs.py",
    "annotation/protocols/decision_rule.py",
    "annotation/measures/durations.py",
    "annotation/measures/kappa_matrix.py",
    "annotation/pipeline/exposure.py",
    "annotation/comparison/model_plots.py",
    "annotation/paper_figures",
    "annotation/measures/pairwise_kappa.py",
    "annotation/dashboard/paper_page.py",
    "annotation/designs/plan.py",
    "annotation/charts/study.py",
    "annotation/designs/presets.py",
    "annotation/wording/pseudonyms.py",
    "annotation/measures/rank_correlation.py",
    "annotation/measures/ratings_csv.py",
    "annotation/exports/files.py",
    "annotation/releasing",
    "annotation/measures/reliability.py",
    "annotation/reports/report.py",
    "annotation/exports/setup_wording.py",
    "annotation/comparison/question_map.py",
    "annotation/measures/warning_signs.py",
    "annotation/measures/counts.py",
    "annotation/comparison/disagreements_with_models.py",
    "annotation/wording/reasons.py",
    "benchmarks/records.py",
    "benchmarks/formats",
    "benchmarks/runs/margins.py",
    "benchmarks/construction",
    "benchmarks/demo",
    "benchmarks/metrics",
    "benchmarks/caption_only/shares.py",
    "benchmarks/caption_only/by_part.py",
    "benchmarks/scoring/similarity.py",
    "benchmarks/views/plots.py",
    "benchmarks/predictions/names.py",
    "benchmarks/runs/paper_tables.py",
    "benchmarks/runs/reported.py",
    "benchmarks/predictions",
    "benchmarks/predictions/plan.py",
]
IMPURE = {"django", "celery", "rest_framework", "psycopg", "redis"}
HEAVY = {"torch", "open_clip", "torchvision", "sentence_transformers", "transformers"}  # for the worker alone


def modules(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if "migrations" not in path.parts]


def imported(path: Path) -> set[str]:
    """Every module that the file names in an import, wherever the import stands."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("app", ORDER)
def test_imports_go_one_way(app):
    forbidden = set(ORDER[: ORDER.index(app)])
    back = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(app)
        for name in imported(path)
        if name.split(".")[0] in forbidden
    }
    assert not back


def pure_files() -> list[Path]:
    named = [ROOT / name for name in PURE]
    return [path for entry in named for path in (sorted(entry.rglob("*.py")) if entry.is_dir() else [entry])]


@pytest.mark.parametrize("path", pure_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_pure_files_know_no_framework(path):
    allowed = {"annotation", *(path.removesuffix(".py").replace("/", ".") for path in PURE)}  # the package is empty
    for name in imported(path):
        assert name.split(".")[0] not in IMPURE | HEAVY
        if name.split(".")[0] in {"annotation", "benchmarks"}:
            assert ".".join(name.split(".")[:2]) in allowed


def test_torch_is_named_where_a_worker_loads_it_and_nowhere_else():
    users = {path.relative_to(ROOT) for app in ORDER for path in modules(app) if imported(path) & HEAVY}
    assert {str(path.parent) for path in users} == {"workers/scoring"}


@pytest.mark.parametrize("entry", ["config.wsgi", "benchmarks.tasks", "benchmarks.management.commands.score"])
def test_the_web_process_never_loads_torch(entry):
    """Nor does a worker before it has such a task: all that Django and its addresses import, in their own process."""
    code = (
        "import sys, importlib, django; django.setup(); from django.urls import get_resolver; "
        f"importlib.import_module({entry!r}); get_resolver().url_patterns; "
        f"sys.exit(', '.join({HEAVY!r} & set(sys.modules)) or 0)"
    )
    own = {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=90)
    assert (done.returncode, done.stderr) == (0, "")


def test_packages_are_empty():
    inits = [path for app in ORDER[1:] for path in (ROOT / app).rglob("__init__.py")]
    assert [str(path) for path in inits if path.read_text().strip()] == []


def test_nothing_is_called_utils():
    assert [str(path) for app in ORDER for path in (ROOT / app).rglob("*util*.py")] == []


def test_templates_have_no_inline_script_or_style():
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        assert " style=" not in text and "<style" not in text and "onclick=" not in text, path
        assert "<script>" not in text, path


PRODUCT = [path for app in ORDER for path in modules(app)]
WRITTEN = [*PRODUCT, *sorted((ROOT / "tests").rglob("*.py"))]


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def of_modules(tree: ast.Module) -> dict[str, str]:
    """Name → module of ours, for those that the file imports whole."""
    ours = {dotted(path) for path in WRITTEN}
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if f"{node.module}.{alias.name}" in ours
    }


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_asked_of_a_module_is_there(path):
    tree = ast.parse(path.read_text())
    named = of_modules(tree)
    bound = {
        arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in [*node.args, *node.kwonlyargs]
    }
    bound |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    missing = {
        f"{named[node.value.id]}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in named and node.value.id not in bound
        if not hasattr(importlib.import_module(named[node.value.id]), node.attr)
    }
    assert not missing
