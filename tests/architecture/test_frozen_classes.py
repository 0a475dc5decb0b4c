"""Frozen classes do what frozen data classes do."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace

import pytest

from answerable.serve.frozen import frozen


@frozen
class Rope:
    """A rope."""

    name: str
    metres: int = 3
    knots: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        if self.metres < 0:
            raise ValueError("a rope is not shorter than nothing")


@dataclass(frozen=True)
class Usual:
    """The same by the standard library."""

    name: str
    metres: int = 3
    knots: list[str] = field(default_factory=list, compare=False)


@frozen(eq=False)
class Itself:
    """Equal to itself only."""

    name: str


def test_fields_are_given_by_place_by_name_or_by_default() -> None:
    assert Rope("hemp") == Rope(name="hemp") == Rope("hemp", 3) == Rope("hemp", metres=3)
    assert Rope("hemp").knots == []
    assert Rope("hemp").knots is not Rope("hemp").knots


@pytest.mark.parametrize(
    ("given", "named"),
    [((), {}), (("a", 1, [], 2), {}), (("a",), {"name": "b"}), (("a",), {"yards": 2})],
)
def test_what_the_standard_library_refuses_is_refused(
    given: tuple[object, ...], named: dict[str, object]
) -> None:
    for kind in (Rope, Usual):
        with pytest.raises(TypeError):
            kind(*given, **named)  # type: ignore[arg-type]


def test_nothing_can_be_assigned_or_deleted() -> None:
    rope = Rope("hemp")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'metres'"):
        rope.metres = 4  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del rope.metres
    assert rope.metres == 3


def test_equality_hash_and_repr_are_those_of_the_fields() -> None:
    assert Rope("a", 1, ["x"]) == Rope("a", 1, ["y"])
    assert hash(Rope("a", 1, ["x"])) == hash(Rope("a", 1, ["y"]))
    assert Rope("a", 1) != Rope("a", 2)
    other: object = Usual("a", 1)
    assert Rope("a", 1) != other
    assert repr(Rope("a", 1, ["x"])) == repr(Usual("a", 1, ["x"])).replace("Usual", "Rope")
    one = Itself("a")
    assert one == one
    assert one != Itself("a")
    assert len({one, Itself("a"), one}) == 2


def test_a_constructor_may_refuse() -> None:
    with pytest.raises(ValueError, match="not shorter than nothing"):
        Rope("hemp", -1)
    with pytest.raises(ValueError, match="not shorter than nothing"):
        replace(Rope("hemp"), metres=-1)


def test_it_is_a_data_class_to_the_standard_library() -> None:
    rope = Rope("hemp", 5, ["bowline"])
    assert is_dataclass(rope)
    assert [each.name for each in fields(rope)] == ["name", "metres", "knots"]
    assert asdict(rope) == {"name": "hemp", "metres": 5, "knots": ["bowline"]}
    assert replace(rope, metres=6) == Rope("hemp", 6)
    assert copy.copy(rope) == copy.deepcopy(rope) == pickle.loads(pickle.dumps(rope)) == rope
