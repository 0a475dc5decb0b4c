"""What is worked out of a store once, and forgotten with it."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from .store import Store

P = ParamSpec("P")
R = TypeVar("R")


def once(
    function: Callable[Concatenate[Store, P], R],
) -> Callable[Concatenate[Store, P], R]:
    """Call a function once for each store and the arguments after it, which are hashable.

    A dev server opens a bundle at every rebuild: what is kept must not keep the bundle.
    """
    kept: WeakKeyDictionary[Store, dict[object, R]] = WeakKeyDictionary()

    @wraps(function)
    def called(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results = kept.setdefault(store, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(store, *args, **kwargs)
        return results[key]

    return called
