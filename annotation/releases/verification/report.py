"""The result of a verification: what was checked, how much, and every problem as a sentence that names the file."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

MOST = 20  # sentences per file and check; after a missing row, all others differ


@dataclass
class Report:
    checked: Counter[str] = field(default_factory=Counter)  # what, in the plural → how many
    problems: list[str] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)  # by file, problems beyond those listed
    told: Counter[str] = field(default_factory=Counter)
    not_checked: list[str] = field(default_factory=list)  # sentences about what only another Winnow can check

    @property
    def good(self) -> bool:
        return not self.problems

    def count(self, what: str, n: int = 1) -> None:
        self.checked[what] += n

    def problem(self, file: str, words: str) -> None:
        self.told[file] += 1
        if self.told[file] <= MOST:
            self.problems.append(f"{file}: {words}")
        else:
            self.more[file] += 1

    @contextmanager
    def reading(self, file: str) -> Iterator[None]:
        """Turn any exception that a damaged file causes into a problem of that file."""
        try:
            yield
        except Exception as problem:
            self.problem(file, f"it cannot be checked further: {_in_words(problem)}")

    def _lines(self) -> Iterator[str]:
        for what, count in self.checked.items():
            yield f"checked {count:>9,} {what}"
        yield from (f"not checked: {words}" for words in self.not_checked)
        yield from (f"problem: {problem}" for problem in self.problems)
        yield from (f"problem: {file}: {count:,} more of this kind" for file, count in sorted(self.more.items()))
        count = len(self.problems) + self.more.total()
        yield "No problems found." if self.good else f"{count:,} problem{'s' if count > 1 else ''}."

    def written(self, as_json: bool) -> str:
        """Return the report for people, or as JSON for programs."""
        if not as_json:
            return "\n".join(self._lines())
        found = {"good": self.good, "checked": dict(self.checked), "problems": self.problems}
        found["not_checked"] = self.not_checked
        return json.dumps(found | {"more": dict(sorted(self.more.items()))}, ensure_ascii=False, indent=2)


def _in_words(problem: Exception) -> str:
    """Return the exception on one line; a KeyError's only word is what is missing."""
    words = " ".join(str(problem).split())[:300]
    if isinstance(problem, KeyError):
        return f"{words} is missing"
    return words or type(problem).__name__
