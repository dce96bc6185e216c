"""Work on threads, batch by batch, some batches ahead of the consumer."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch


def prefetched(
    work: Callable[[Item], Made], items: Iterable[Item], size: int, threads: int, depth: int
) -> Iterator[list[Made]]:
    """Call `work` on each item, in order, in lists of `size`. While one list is in use, `depth` more are being made.

    With depth 0 all threads make a list together, and nothing runs while it is in use, which suits a consumer that
    needs the same cores. Exceptions from `work` are raised where its list is consumed. Memory: (depth + 1) × size
    results.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="ahead")
    made: deque = deque()
    try:
        for batch in batches(items, size):
            made.append([pool.submit(work, item) for item in batch])
            if len(made) > depth:
                yield [future.result() for future in made.popleft()]
        while made:
            yield [future.result() for future in made.popleft()]
    finally:
        pool.shutdown(cancel_futures=True)
