"""The asynchronous client runs the synchronous one in threads: there is one transport, and nothing is written twice."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Generic, ParamSpec, Self, TypeVar

from winnow_client.transport import STOPPED

Of = TypeVar("Of")
P = ParamSpec("P")
R = TypeVar("R")
POOL = ThreadPoolExecutor(64, "winnow")  # most of them wait
TWINS: dict[type, type["Asynchronous[Any]"]] = {}  # by the class whose twin it is


async def in_thread(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return the call's result. If nobody awaits it any more, it ends at its next request or pause."""
    stopped, context = threading.Event(), contextvars.copy_context()
    context.run(STOPPED.set, stopped)
    try:
        return await asyncio.get_running_loop().run_in_executor(POOL, partial(context.run, call, *args, **kwargs))
    except asyncio.CancelledError:
        stopped.set()
        raise


class Asynchronous(Generic[Of]):
    """The twin of an object, `of`, whose plain attributes it also has."""

    def __init__(self, of: Of):
        self.of = of
        vars(self).update({name: value for name, value in vars(of).items() if not name.startswith("_")})

    def __init_subclass__(cls, **rest: Any) -> None:
        """Take the docstrings from the class whose twin this is."""
        super().__init_subclass__(**rest)
        (of,) = cls.__orig_bases__[0].__args__  # type: ignore[attr-defined]  # of every generic class
        original = getattr(of, "__origin__", of)
        TWINS[original] = cls
        for name, method in vars(cls).items():
            if inspect.isfunction(method) or isinstance(method, property):
                method.__doc__ = getattr(original, name).__doc__

    def __repr__(self) -> str:
        return f"<Async{repr(self.of)[1:]}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Asynchronous) and self.of == other.of

    def __hash__(self) -> int:
        return hash(self.of)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if close := getattr(getattr(self.of, "_transport", None), "close", None):
            close()

    async def _run(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        found = await in_thread(call, *args, **kwargs)
        return TWINS[type(found)](found) if type(found) in TWINS else found
