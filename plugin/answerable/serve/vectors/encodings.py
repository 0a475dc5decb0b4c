"""The encodings that a bundle may carry its vectors in, and all that depends on which it is.

The rows of one stream in their encoding: estimated all at once, scored where it matters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from .binary_codes import BinaryCodes, BinaryInt8Codes
from .scalar_codes import Float32Codes, Floats, Int4Codes, Int8Codes, Rows

INVERSE_NORMS = "inverse-norms"
# Of inverse norms, and of codes that are floats: whole numbers have norms from 1, and what is of
# length 1 may be rounded. A reader refuses more.
MAX_UNIT_VALUE = 1 + 1e-5
DEFAULT_ENCODING = "int8"


@dataclass(frozen=True, slots=True)
class EncodingKind:
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


ENCODING_KINDS = {
    "float32": EncodingKind({"codes": ("<f4", 1)}, is_lossless=True, is_whole=False),
    "int8": EncodingKind({"codes": ("|i1", 1)}, is_lossless=True, is_scanned=True),
    "int4": EncodingKind({"codes": ("|u1", 2)}, is_scanned=True),
    "binary": EncodingKind({"bits": ("|u1", 8)}),
    "binary+int8": EncodingKind({"bits": ("|u1", 8), "codes": ("|i1", 1)}),
}
ENCODING_NAMES = tuple(ENCODING_KINDS)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How vectors are carried: the kind of number and how many of the leading dimensions.

    ValueError for a name that is none of ``NAMES`` or for no dimension at all.
    """

    name: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.name not in ENCODING_KINDS:
            raise ValueError(f"{self.name!r:.80} is none of {', '.join(ENCODING_NAMES)}")
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions carry nothing")

    def as_json(self) -> dict[str, Any]:
        """The encoding as a manifest holds it."""
        return {"encoding": self.name, "dimensions": self.dimensions}

    @property
    def kind(self) -> EncodingKind:
        """What sets the encoding apart from the others."""
        return ENCODING_KINDS[self.name]

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


def encode_all_dimensions(dimensions: int, name: str = DEFAULT_ENCODING) -> Encoding:
    """An encoding of all dimensions of an embedder's vectors."""
    return Encoding(name, dimensions)


class Codes(Protocol):
    """The quantized rows of one stream. Queries are (dimensions,) float32 and of length 1."""

    @property
    def pool(self) -> int:
        """How many of the best estimates are worth scoring."""

    def slack(self, query: Floats) -> float:
        """How far an estimate may lie under the score that it stands for."""

    def estimate(self, query: Floats) -> Floats:
        """The cosine of the query with every row, roughly. Returns (n,)."""

    def numbers(self, rows: Rows | slice) -> Floats:
        """The codes of some rows, which the query is multiplied with. Returns (k, dimensions)."""

    @property
    def inverse_norms(self) -> Floats:
        """(n,) 1 / the length of each row's codes, or 0."""

    def __len__(self) -> int: ...


Arrays = Mapping[str, NDArray[Any]]

# By the names of ``encoding.KINDS``: from the arrays, the inverse norms and the dimensions.
_CODES_OPENERS: Mapping[str, Callable[[Arrays, Floats, int], Codes]] = {
    "float32": lambda arrays, norms, _: Float32Codes(arrays["codes"], norms),
    "int8": lambda arrays, norms, _: Int8Codes(arrays["codes"], norms),
    "int4": lambda arrays, norms, dimensions: Int4Codes(arrays["codes"], norms, dimensions),
    "binary": lambda arrays, norms, dimensions: BinaryCodes(arrays["bits"], norms, dimensions),
    "binary+int8": lambda arrays, norms, _: BinaryInt8Codes(
        arrays["bits"], Int8Codes(arrays["codes"], norms)
    ),
}


def open_codes(encoding: Encoding, arrays: Arrays) -> Codes:
    """The rows of a stream by the arrays of its encoding."""
    return _CODES_OPENERS[encoding.name](arrays, arrays[INVERSE_NORMS], encoding.dimensions)
