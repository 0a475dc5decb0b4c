"""Frozen data classes that cost a cold start next to nothing.

``dataclasses`` writes and compiles six functions for every class each time a module is imported,
which for the classes here is a seventh of a cold start. These share theirs. They are data classes
to ``dataclasses.replace``, ``asdict`` and ``fields``, and to type checkers.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform, overload

C = TypeVar("C")


@overload
def frozen(cls: type[C], /) -> type[C]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[C]], type[C]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[C] | None = None, /, *, eq: bool = True
) -> type[C] | Callable[[type[C]], type[C]]:
    """A class of fields that cannot be assigned to; ``eq``: equal by its fields, not itself."""

    def made(cls: type[C]) -> type[C]:
        dataclass(init=False, repr=False, eq=False)(cls)
        methods: dict[str, object] = {
            "__init__": _init(cls),
            "__repr__": _repr,
            "__setattr__": _refuse,
            "__delattr__": _refuse,
        }
        if eq:
            methods |= {"__eq__": _eq, "__hash__": _hash}
        for name, method in methods.items():
            if name not in cls.__dict__:
                setattr(cls, name, method)
        return cls

    return made if cls is None else made(cls)


def _init(cls: type[Any]) -> Callable[..., None]:
    listed = fields(cls)
    names = tuple(each.name for each in listed)
    known = frozenset(names)
    post_init = getattr(cls, "__post_init__", None)

    def init(self: Any, *given: Any, **named: Any) -> None:
        values = dict(zip(names, given, strict=False))
        if len(given) > len(names) or not known.issuperset(named) or values.keys() & named.keys():
            raise TypeError(f"{cls.__name__} has the fields {', '.join(names)}, each once")
        values.update(named)
        if len(values) < len(names):
            for each in listed:
                if each.name not in values:
                    values[each.name] = _default(cls, each)
        self.__dict__.update(values)
        if post_init:
            post_init(self)

    return init


def _default(cls: type[Any], wanted: Field[Any]) -> Any:
    if wanted.default is not MISSING:
        return wanted.default
    if wanted.default_factory is not MISSING:
        return wanted.default_factory()
    raise TypeError(f"{cls.__name__} lacks its field {wanted.name}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, each.name) for each in fields(self) if each.compare)


def _eq(self: Any, other: object) -> bool:
    return other.__class__ is self.__class__ and _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, value: object = None) -> None:
    del self, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")
