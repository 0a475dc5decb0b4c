"""Choose where the questions of a site are answered: in the reader's browser, or by a function."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..serve.errors import SiteError

AnswerPlace = Literal["browser", "function"]
ANSWER_PLACES: tuple[AnswerPlace, ...] = ("browser", "function")

BROWSER_MESSAGE = (
    "answers_in: readers' browsers answer, from files of the site; look at it from a web server, "
    "since no browser loads them for a page that is opened as a file"
)
NOTEBOOK_REASON = "private notes stay on a server"
ENDPOINT_REASON = "the ask box asks there"
# Below the cache: settings and bundle of a site without a function, for commands that ask it.
_UNPUBLISHED_FOLDER = "function"


@dataclass(frozen=True, slots=True)
class FunctionNeed:
    """Name what of a site a function alone can do.

    ``subject``: as a person would write it, such as an option in backquotes. ``reason``: why.
    ``remedy``: what makes it unnecessary, None where nothing does.
    """

    subject: str
    reason: str
    remedy: str | None = None


def need_of_option(option: str, reason: str) -> FunctionNeed:
    """Describe an option that only a function can honor, and that may be removed."""
    return FunctionNeed(f"`{option}`", reason, f"remove `{option}`")


def choose_answer_place(option: AnswerPlace | None, needs: Sequence[FunctionNeed]) -> AnswerPlace:
    """Choose the browser where nothing needs a function, unless the option says otherwise.

    SiteError if it says `browser` and something needs a function.
    """
    if option == "browser" and needs:
        remedies = ", or ".join(["set answers_in to function", *_list_remedies(needs)])
        raise SiteError(
            f"answers_in: browser is impossible, since {_join_reasons(needs)}; {remedies}"
        )
    return option or ("function" if needs else "browser")


def locate_unpublished_function(cache: Path) -> Path:
    """Locate what commands ask where readers' browsers answer and nothing asks for a function."""
    return cache / _UNPUBLISHED_FOLDER


def find_function(function: Path, cache: Path) -> Path:
    """Find the folder that holds the bundle of the last build.

    A build that writes a function takes away what one without a function has left in the cache.
    """
    unpublished = locate_unpublished_function(cache)
    return unpublished if unpublished.is_dir() else function


def describe_function_needs(
    needs: Sequence[FunctionNeed], setup: str, name: str = "answers_in"
) -> str:
    """Describe in one sentence what needs a function, and what to do about it.

    setup: what makes a function answer, such as deploying it.
    """
    remedies = [setup, *_list_remedies(needs)]
    return f"{name}: {_join_reasons(needs)}; {', or '.join(remedies)}"


def _join_reasons(needs: Sequence[FunctionNeed]) -> str:
    first, *others = needs
    reasons = [f"{first.subject} needs a function ({first.reason})"]
    reasons += [f"so does {need.subject} ({need.reason})" for need in others]
    return ", and ".join(reasons)


def _list_remedies(needs: Sequence[FunctionNeed]) -> list[str]:
    """List what makes all needs unnecessary at once; nothing if one of them has no remedy."""
    remedies = [need.remedy for need in needs if need.remedy]
    return [" and ".join(remedies)] if len(remedies) == len(needs) else []
