"""Data classes are frozen and slotted, so that a routing hint cannot be given a note's text."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import pytest

from answerable.engine.types import RoutingHint
from support import sites

ENGINE = sites.ROOT / "plugin" / "answerable" / "engine"
# It keeps what a cached_property has computed in its instance, which slots have no room for.
WITHOUT_SLOTS = {"ExtractiveAnswerer"}
TEXT = "Words of a note."


def decorated_dataclasses() -> Iterator[tuple[str, str]]:
    """Yield the name and the decorator's arguments of every data class in ``engine/``."""
    for path in ENGINE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                for decorator in map(ast.unparse, node.decorator_list):
                    if decorator.startswith("dataclass"):
                        yield node.name, decorator


def example_hint() -> RoutingHint:
    return RoutingHint("n~2", "Mooring", "page 2", "https://example.org/mooring")


def test_dataclasses_of_serve_are_frozen_and_slotted() -> None:
    classes = list(decorated_dataclasses())
    assert len(classes) > 30
    mutable = {name for name, decorator in classes if "frozen=True" not in decorator}
    assert mutable == set()
    slotless = {name for name, decorator in classes if "slots=True" not in decorator}
    assert slotless <= WITHOUT_SLOTS


ASSIGNMENTS: dict[str, Callable[[Any], object]] = {
    "attribute": lambda hint: setattr(hint, "text", TEXT),
    "object.__setattr__": lambda hint: object.__setattr__(hint, "text", TEXT),
    "__dict__": lambda hint: hint.__dict__.update(text=TEXT),
    "constructor": lambda hint: type(hint)(**asdict(hint), text=TEXT),
}


@pytest.mark.parametrize("assign", ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_routing_hint_cannot_be_given_a_text(assign: Callable[[Any], object]) -> None:
    hint = example_hint()
    with pytest.raises((AttributeError, TypeError, ValueError)):
        assign(hint)
    assert hint == example_hint()
    assert not hasattr(hint, "text")
    assert TEXT not in repr(hint)
