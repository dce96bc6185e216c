"""Problems of an input, as commands write them."""

from django.core.management.base import CommandError, OutputWrapper

from benchmarks.formats.base import ProblemLog


def refuse(log: ProblemLog, out: OutputWrapper, what: str) -> None:
    """CommandError where there are problems, after they were written out; `what` says what was not done."""
    if not log.count:
        return
    for problem in log.problems:
        out.write(str(problem))
    more = f" The first {len(log.problems)} are listed." if log.count > len(log.problems) else ""
    raise CommandError(f"{what}: {log.count:,} problem{'s' * (log.count != 1)}.{more}")
