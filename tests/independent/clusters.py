"""Standard errors clustered by item and by annotator, with matrices of which judgments have what in common."""

import numpy as np
from scipy import stats

Error = tuple[float, float]  # an estimate's variance, and Student's quantile by its freedom


def half_widths(parts: np.ndarray, items: list, people: list) -> tuple[float, float | None]:
    """Of one estimate, half of Student's interval over items, and over items and annotators, None if there is none."""
    (these, t), others = errors(parts, items, people)
    return t * np.sqrt(these), others and others[1] * np.sqrt(others[0])


def errors(parts: np.ndarray, items: list, people: list) -> tuple[Error, Error | None]:
    """Of one estimate, over items, and over items and annotators.

    A judgment's part in the error is u_j, C has 1 where two judgments have the cluster in common: u' C u.
    """
    same_item, same_person = (np.equal.outer(np.array(of), np.array(of)) for of in (items, people))
    n, count = len(parts), len(set(items))
    of_items = parts @ same_item @ parts * count / (count - 1)
    these = of_items, stats.t.ppf(0.975, count - 1)
    centred = np.eye(n) - np.full((n, n), 1 / n)
    effects = np.linalg.multi_dot([centred, same_person, centred])
    # What the annotators' quadratic form has on average for each of their variances, and for judgments' own.
    ratio = np.trace(effects @ same_person) / same_person.sum()
    g = n**2 / same_person.sum() - 1
    if g < 0.5 - 1e-9:
        return these, None
    own = parts @ (same_item & same_person) @ parts * (1 - same_person.sum() / n**2)
    of_people = max(0.0, (parts @ same_person @ parts - own) / ratio)
    both = of_items + of_people
    freedom = max(1.0, (both / (of_items / np.sqrt(count - 1) + of_people / np.sqrt(g))) ** 2) if both else 1.0
    below = np.floor(freedom)
    t = np.interp(-1 / freedom, [-1 / below, -1 / (below + 1)], stats.t.ppf(0.975, [below, below + 1]))
    return these, (both, t)
