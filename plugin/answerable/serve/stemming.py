"""One Snowball stemmer by its language, without the thirty others of its package."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType

from .errors import AnswerableError

_NAME = "answerable_snowball"


def stemmer(language: str) -> Callable[[str], str]:
    """A new stemmer, such as that of ``english``; it works on one word at a time.

    AnswerableError if snowballstemmer is not installed.
    """
    module = importlib.import_module(f"{_package()}.{language}_stemmer")
    found: Callable[[str], str] = getattr(module, f"{language.capitalize()}Stemmer")().stemWord
    return found


@cache
def _package() -> str:
    """snowballstemmer under a name of ours, so that its own start is not run.

    That imports every language, which is a tenth of a cold start, or PyStemmer where somebody has
    installed it, whose stems may be of another version than those in the bundle.
    """
    spec = importlib.util.find_spec("snowballstemmer")
    if spec is None or spec.submodule_search_locations is None:
        raise AnswerableError("snowballstemmer is not installed: run `pip install snowballstemmer`")
    package = ModuleType(_NAME)
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules[_NAME] = package
    return _NAME
