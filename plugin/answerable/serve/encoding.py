"""The encodings that a bundle may carry its vectors in."""

from typing import Any

from .frozen import frozen

INVERSE_NORMS = "inverse-norms"
# By encoding, the arrays that each stream has beside those: the type of a number and how many
# dimensions go into one.
ARRAYS = {
    "float32": {"codes": ("<f4", 1)},
    "int8": {"codes": ("|i1", 1)},
    "int4": {"codes": ("|u1", 2)},
    "binary": {"bits": ("|u1", 8)},
    "binary+int8": {"bits": ("|u1", 8), "codes": ("|i1", 1)},
}
NAMES = tuple(ARRAYS)

# Those that no gold set has ever told from full precision while all dimensions are kept.
_LOSSLESS = ("float32", "int8")


DEFAULT = "int8"


@frozen
class Encoding:
    """How vectors are carried: the kind of number and how many of the leading dimensions.

    ValueError for a name that is none of ``NAMES`` or for no dimension at all.
    """

    name: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.name not in ARRAYS:
            raise ValueError(f"{self.name!r:.80} is none of {', '.join(NAMES)}")
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions carry nothing")

    def as_json(self) -> dict[str, Any]:
        """The encoding as a manifest holds it."""
        return {"encoding": self.name, "dimensions": self.dimensions}

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The arrays that each stream has: the type of each, and the shape of one row."""
        own = {
            name: (dtype, (-(-self.dimensions // packed),))
            for name, (dtype, packed) in ARRAYS[self.name].items()
        }
        return {INVERSE_NORMS: ("<f4", ()), **own}

    def needs_certificate(self, dimensions: int) -> bool:
        """Whether a gold set has to admit it. dimensions: of the embedder's vectors."""
        return self.name not in _LOSSLESS or self.dimensions < dimensions

    def label(self, dimensions: int) -> str:
        """A short name such as ``int8@1024``; without the number where nothing is left out."""
        return self.name if self.dimensions == dimensions else f"{self.name}@{self.dimensions}"


def whole(dimensions: int, name: str = DEFAULT) -> Encoding:
    """An encoding of all dimensions of an embedder's vectors."""
    return Encoding(name, dimensions)
