"""Choose where the questions of a site are answered: in the reader's browser, or by a function."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from ..engine.errors import SiteError

AnswerPlace = Literal["browser", "function"]
ANSWER_PLACES: tuple[AnswerPlace, ...] = ("browser", "function")

BROWSER_MESSAGE = (
    "readers' browsers will answer; to try the built site, serve its folder, since a page that is "
    "opened from the disk cannot load its index"
)
_SETUP = (
    "deploy the function, and set widget.endpoint to its address, or answers_in to function where "
    "the site's own host serves it at _answerable/"
)


def choose_answer_place(option: AnswerPlace | None, needs: Mapping[str, str]) -> AnswerPlace:
    """Choose the browser where nothing needs a function, unless the option says otherwise.

    needs: by option that only a function can honor, the reason. SiteError if it says `browser` and
    something needs a function.
    """
    if option == "browser" and needs:
        raise SiteError(
            f"answers_in: browser is impossible, since {_join_reasons(needs)}; set answers_in to "
            f"function, or {_join_remedies(needs)}"
        )
    return option or ("function" if needs else "browser")


def locate_unpublished_function(cache: Path) -> Path:
    """Locate settings and bundle of a site without a function, for commands that ask it."""
    return cache / "function"


def find_function(function: Path, cache: Path) -> Path:
    """Find the folder that holds the bundle of the last build.

    A build that writes a function takes away what one without a function has left in the cache.
    """
    unpublished = locate_unpublished_function(cache)
    return unpublished if unpublished.is_dir() else function


def describe_function_needs(
    needs: Mapping[str, str], setup: str = _SETUP, name: str = "no function is connected yet"
) -> str:
    """Describe in one sentence what needs a function, and what to do about it.

    needs: as for ``choose_answer_place``. setup: what else than removing them helps.
    """
    return f"{name}: {_join_reasons(needs)}; {setup}, or {_join_remedies(needs)}"


def _join_reasons(needs: Mapping[str, str]) -> str:
    (option, reason), *others = needs.items()
    reasons = [f"`{option}` needs a function ({reason})"]
    reasons += [f"so does `{option}` ({reason})" for option, reason in others]
    return ", and ".join(reasons)


def _join_remedies(needs: Mapping[str, str]) -> str:
    return " and ".join(f"remove `{option}`" for option in needs)
