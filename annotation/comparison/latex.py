"""A comparison as a table for papers, in Markdown and in LaTeX with booktabs. Pure.

Percentages have two decimals; the best model is bold, the second-best underlined; chance is at the bottom. Reported
scores have a dagger, with their sources below. Below each row are the 95% intervals of its scores. If a model reads
some items' captions as identical, a column counts these items.
"""

from collections.abc import Sequence

from annotation.comparison.table import Cell, CorrectedRow, Row, Section, chances, entries_in, read_alike
from annotation.measures.audits.corrected import Corrected, Share
from benchmarks.predictions.names import MeasureName

LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "→": r"$\rightarrow$", "’": "'", "–": "--", "·": r"$\cdot$",
    "<": r"\textless{}", ">": r"\textgreater{}", "†": r"$^{\dagger}$",
    "[": "{[}", "]": "{]}", "*": "{*}",  # bare at a row's start, they would become arguments of the previous row's end
}  # fmt: skip
MARKDOWN = {one: f"\\{one}" for one in "\\|*_`[]<>#~$&"}


def _escaped(text: str, by: dict[str, str]) -> str:
    return "".join(by.get(letter, letter) for letter in " ".join(text.split()))


def _title(row: Row) -> str:
    return f"{row.entry.title}†" if row.entry.reported else row.entry.title


def _sources(sections: Sequence[Section]) -> list[str]:
    found = [row.entry.source for section in sections for row in section.rows if row.entry.reported]
    return list(dict.fromkeys(found))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f}"


def markdown(sections: Sequence[Section], columns: Sequence[MeasureName], tied: Sequence[str] = ()) -> str:
    alike = read_alike(sections)
    heads = ["model", *_counts("n", "read alike", alike), *(_escaped(one.short, MARKDOWN) for one in columns)]
    lines = [_line(heads), _line(["---", *["---:"] * (len(heads) - 1)])]
    for section in sections:
        lines.append(_line([f"*{_escaped(section.title, MARKDOWN)}*", *[""] * (len(heads) - 1)]))
        for row in section.rows:
            lines.append(_line([_escaped(_title(row), MARKDOWN), *_counts_of(row, alike), *map(_marked, row.cells)]))
            if any(beneath := _beneath(row)):
                lines.append(_line(["", *_counts("", "", alike), *beneath]))
    for name, levels in chances(entries_in(sections), columns):
        lines.append(_line([f"*{name}*", *_counts("", "", alike), *map(_percent, levels)]))
    told = [f"† Reported: {_escaped(source, MARKDOWN)}." for source in _sources(sections)]
    told += [_escaped(sentence, MARKDOWN) for sentence in tied]
    return "\n".join([*lines, *([""] if told else []), *told]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _counts(n: str, read_alike: str, alike: bool) -> list[str]:
    return [n, read_alike] if alike else [n]


def _counts_of(row: Row, alike: bool) -> list[str]:
    return _counts("" if row.n is None else f"{row.n:,}", f"{row.entry.read_alike:,}", alike)


def _beneath(row: Row) -> list[str]:
    """Return each score's 95% interval, and its number of items if that differs from the row's."""
    counts = ["" if one.n in (None, row.n) else f", n {one.n:,}" for one in row.cells]
    known = zip(row.cells, counts, strict=True)
    return ["" if one.low is None else f"{_percent(one.low)}–{_percent(one.high)}{n}" for one, n in known]


def _marked(cell: Cell) -> str:
    """Mark the best scores. Markdown cannot underline, so the second-best is underlined in HTML."""
    text = _percent(cell.share)
    return {1: f"**{text}**", 2: f"<u>{text}</u>"}.get(cell.rank, text)


def latex(sections: Sequence[Section], columns: Sequence[MeasureName], tied: Sequence[str] = ()) -> str:
    r"""Write a booktabs `tabular`, which needs `\usepackage{booktabs}`."""
    alike = read_alike(sections)
    heads = ["Model", *_counts("$n$", "Read alike", alike), *(_escaped(one.short, LATEX) for one in columns)]
    lines = [f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule", _ended(heads)]
    for section in sections:
        title = f"\\multicolumn{{{len(heads)}}}{{l}}{{\\textit{{{_escaped(section.title, LATEX)}}}}}"
        lines += [r"\midrule", f"{title} \\\\"]
        for row in section.rows:
            cells = [*_counts_of(row, alike), *map(_highlighted, row.cells)]
            lines.append(_ended([_escaped(_title(row), LATEX), *cells]))
            if any(beneath := [one and f"\\scriptsize {_escaped(one, LATEX)}" for one in _beneath(row)]):
                lines.append(_ended(["", *_counts("", "", alike), *beneath]))
    lines.append(r"\midrule")
    for name, levels in chances(entries_in(sections), columns):
        lines.append(_ended([name, *_counts("", "", alike), *map(_percent, levels)]))
    told = [f"% Reported (dagger): {_escaped(source, LATEX)}." for source in _sources(sections)]
    told += [f"% {_escaped(sentence, LATEX)}" for sentence in tied]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *told]) + "\n"


def _ended(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _highlighted(cell: Cell) -> str:
    text = _or_dash(cell.share)
    return {1: f"\\textbf{{{text}}}", 2: f"\\underline{{{text}}}"}.get(cell.rank, text)


def corrected(found: Corrected, rows: Sequence[CorrectedRow], measure: MeasureName) -> str:
    r"""Write an audit's corrected table as a booktabs `tabular`, with reported scores if there are any."""
    sources = list(dict.fromkeys(row.source for row in rows if row.reported is not None))
    ours = ["All items", "Rank", f"Audited ($n = {found.audited}$)", f"Valid ($n = {found.valid}$)", "Rank"]
    heads = ["Model", *([_escaped("Reported†", LATEX)] if sources else []), *ours]
    lines = [f"\\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule", _ended(heads), r"\midrule"]
    before = False
    for row in rows:
        if (twice := bool(row.figures and row.figures.asked_in_both_orders)) != before:
            lines.append(r"\midrule")
        before, name = twice, _escaped(row.name, LATEX)
        lines.append(_ended([name, *([_or_dash(row.reported)] if sources else []), *_figures(row)]))
    told = [f"% Reported (dagger): {_escaped(source, LATEX)}." for source in sources]
    if any(row.figures and row.figures.asked_in_both_orders for row in rows):
        told.append("% Between the rules: models asked in both orders, right only if both answers are, ranked apart.")
    lines += [r"\bottomrule", r"\end{tabular}", f"% {_escaped(measure.short, LATEX)}, in percent.", *told]
    return "\n".join(lines) + "\n"


def _figures(row: CorrectedRow) -> list[str]:
    if (own := row.figures) is None:
        return ["--"] * 5
    return [_percent(own.everywhere), str(own.rank), _spanned(own.audited), _spanned(own.valid), str(own.valid_rank)]


def _or_dash(share: float | None) -> str:
    return "--" if share is None else _percent(share)


def _spanned(one: Share) -> str:
    return (
        "--"
        if one.low is None or one.high is None
        else f"{_percent(one.share)} [{_percent(one.low)}, {_percent(one.high)}]"
    )
