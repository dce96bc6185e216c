"""The notebook of the guide, cell by cell, against a live server whose worker runs at once."""

import ast
import json

import pandas

from annotation.models import Study
from config.client import NOTEBOOK
from tests.builders import crowds
from tests.client.cups import cups


def test_the_notebook_leads_from_a_table_to_a_release(site, eager_tasks, token, tmp_path, monkeypatch):
    cells = [
        "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"
    ]
    assert sum(len([line for line in cell.splitlines() if line]) for cell in cells) <= 15
    pandas.DataFrame(cups(tmp_path / "pictures", 16)).to_csv(tmp_path / "cups.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WINNOW_URL", site)
    monkeypatch.setenv("WINNOW_TOKEN", token)
    names: dict = {}
    shown = []
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)
        if "study.link" in cell:
            crowds.work(Study.objects.get(), people=8, undone=0, close=True)
    link, progress, seconds, (caption, size) = shown
    assert link.startswith(f"{site}/join/")
    assert list(progress["name"]) == ["image-caption-foil"] and list(progress["settled"]) == [16]
    assert seconds.min() > 0
    assert caption.startswith("A red cup") and size == (16, 16)
