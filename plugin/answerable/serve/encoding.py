"""The encodings that a bundle may carry its vectors in, and all that depends on which it is."""

from collections.abc import Mapping
from typing import Any

from .frozen import frozen

INVERSE_NORMS = "inverse-norms"
# Of inverse norms, and of codes that are floats: whole numbers have norms from 1, and what is of
# length 1 may be rounded. A reader refuses more.
AT_MOST_ONE = 1 + 1e-5
DEFAULT = "int8"


@frozen
class Kind:
    """What sets an encoding apart, beside its arithmetic in ``serve.codes`` and ``build.quantize``.

    ``arrays``: those that each stream has beside the inverse norms, by name the type of a number
    and how many dimensions go into one. ``is_lossless``: no gold set has ever told it from full
    precision while all dimensions are kept. ``is_whole``: its codes are whole numbers of 8 bits,
    which a database holds in half precision. ``is_scanned``: the compiled kernel counts them.
    """

    arrays: Mapping[str, tuple[str, int]]
    is_lossless: bool = False
    is_whole: bool = True
    is_scanned: bool = False


KINDS = {
    "float32": Kind({"codes": ("<f4", 1)}, is_lossless=True, is_whole=False),
    "int8": Kind({"codes": ("|i1", 1)}, is_lossless=True, is_scanned=True),
    "int4": Kind({"codes": ("|u1", 2)}, is_scanned=True),
    "binary": Kind({"bits": ("|u1", 8)}),
    "binary+int8": Kind({"bits": ("|u1", 8), "codes": ("|i1", 1)}),
}
NAMES = tuple(KINDS)


@frozen
class Encoding:
    """How vectors are carried: the kind of number and how many of the leading dimensions.

    ValueError for a name that is none of ``NAMES`` or for no dimension at all.
    """

    name: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise ValueError(f"{self.name!r:.80} is none of {', '.join(NAMES)}")
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions carry nothing")

    def as_json(self) -> dict[str, Any]:
        """The encoding as a manifest holds it."""
        return {"encoding": self.name, "dimensions": self.dimensions}

    @property
    def kind(self) -> Kind:
        """What sets the encoding apart from the others."""
        return KINDS[self.name]

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The arrays that each stream has: the type of each, and the shape of one row."""
        own = {
            name: (dtype, (-(-self.dimensions // packed),))
            for name, (dtype, packed) in self.kind.arrays.items()
        }
        return {INVERSE_NORMS: ("<f4", ()), **own}

    def needs_certificate(self, dimensions: int) -> bool:
        """Whether a gold set has to admit it. dimensions: of the embedder's vectors."""
        return not self.kind.is_lossless or self.dimensions < dimensions

    def label(self, dimensions: int) -> str:
        """A short name such as ``int8@1024``; without the number where nothing is left out."""
        return self.name if self.dimensions == dimensions else f"{self.name}@{self.dimensions}"


def whole(dimensions: int, name: str = DEFAULT) -> Encoding:
    """An encoding of all dimensions of an embedder's vectors."""
    return Encoding(name, dimensions)
