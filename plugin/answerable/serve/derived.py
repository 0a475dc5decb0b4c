"""What is worked out of a bundle once, and forgotten with it."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from .bundle import Bundle

P = ParamSpec("P")
R = TypeVar("R")


def once(
    function: Callable[Concatenate[Bundle, P], R],
) -> Callable[Concatenate[Bundle, P], R]:
    """Call a function once for each bundle and the arguments after it, which are hashable.

    A dev server opens a bundle at every rebuild: what is kept must not keep the bundle.
    """
    kept: WeakKeyDictionary[Bundle, dict[object, R]] = WeakKeyDictionary()

    @wraps(function)
    def called(bundle: Bundle, /, *args: P.args, **kwargs: P.kwargs) -> R:
        results = kept.setdefault(bundle, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in results:
            results[key] = function(bundle, *args, **kwargs)
        return results[key]

    return called
