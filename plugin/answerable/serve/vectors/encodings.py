"""Registry of vector encodings (float32, int8, int4): their arrays and how to open them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from .scalar_codes import Float32Codes, Floats, Int4Codes, Int8Codes, Rows

Arrays = Mapping[str, NDArray[Any]]

INVERSE_NORMS = "inverse-norms"
# Bound of inverse norms, and of codes that are floats: whole numbers have norms from 1, and a
# vector of length 1 may be rounded.
MAX_UNIT_VALUE = 1 + 1e-5
DEFAULT_ENCODING = "int8"


class Codes(Protocol):
    """Score the quantized rows of one stream with queries: (dimensions,) float32 of length 1."""

    @property
    def pool(self) -> int:
        """Count the best estimates that are worth scoring."""

    def slack(self, query: Floats) -> float:
        """Bound how far an estimate lies under its score."""

    def estimate(self, query: Floats) -> Floats:
        """Estimate the cosine of the query with every row. Returns (n,)."""

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows to the codes that a query is multiplied with, (k, dimensions)."""

    @property
    def inverse_norms(self) -> Floats:
        """Return 1 / the length of each row's codes, or 0, (n,)."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class EncodingKind:
    """Describe an encoding, beside its arithmetic.

    ``open``: makes codes from arrays, inverse norms and dimensions. ``arrays``: those that each
    stream has beside the inverse norms, by name the type of a number and how many dimensions go
    into one. ``is_lossless``: no gold set has ever told it from full precision while all
    dimensions are kept. ``is_whole``: its codes are whole numbers of 8 bits, which a database
    holds in half precision. ``is_scanned``: the compiled kernel multiplies them.
    """

    open: Callable[[Arrays, Floats, int], Codes]
    arrays: Mapping[str, tuple[str, int]]
    is_lossless: bool = False
    is_whole: bool = True
    is_scanned: bool = False


ENCODING_KINDS = {
    "float32": EncodingKind(
        lambda arrays, norms, _: Float32Codes(arrays["codes"], norms),
        {"codes": ("<f4", 1)},
        is_lossless=True,
        is_whole=False,
    ),
    "int8": EncodingKind(
        lambda arrays, norms, _: Int8Codes(arrays["codes"], norms),
        {"codes": ("|i1", 1)},
        is_lossless=True,
        is_scanned=True,
    ),
    "int4": EncodingKind(
        lambda arrays, norms, dimensions: Int4Codes(arrays["codes"], norms, dimensions),
        {"codes": ("|u1", 2)},
        is_scanned=True,
    ),
}
ENCODING_NAMES = tuple(ENCODING_KINDS)
# Encodings that are gone, and what to use instead.
REMOVED_ENCODINGS = {"binary": "int4", "binary+int8": "int8"}


@dataclass(frozen=True, slots=True)
class Encoding:
    """Choose the kind of number of vectors and how many of the leading dimensions are kept.

    ValueError for a name that is none of ``ENCODING_NAMES`` or for no dimension at all.
    """

    name: str
    dimensions: int

    def __post_init__(self) -> None:
        if self.name not in ENCODING_KINDS:
            raise ValueError(f"{self.name!r:.80} is none of {', '.join(ENCODING_NAMES)}")
        if self.dimensions < 1:
            raise ValueError(f"{self.dimensions} dimensions carry nothing")

    def as_json(self) -> dict[str, Any]:
        """Return the encoding as a manifest holds it."""
        return {"encoding": self.name, "dimensions": self.dimensions}

    @property
    def kind(self) -> EncodingKind:
        """Look up the description of the encoding."""
        return ENCODING_KINDS[self.name]

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """List the arrays of each stream: the type of each, and the shape of one row."""
        own = {
            name: (dtype, (-(-self.dimensions // packed),))
            for name, (dtype, packed) in self.kind.arrays.items()
        }
        return {INVERSE_NORMS: ("<f4", ()), **own}

    def needs_certificate(self, dimensions: int) -> bool:
        """Test whether a gold set has to admit it. dimensions: of the embedder's vectors."""
        return not self.kind.is_lossless or self.dimensions < dimensions

    def label(self, dimensions: int) -> str:
        """Format a short name such as ``int8@1024``; without the number where all are kept."""
        return self.name if self.dimensions == dimensions else f"{self.name}@{self.dimensions}"


def encode_all_dimensions(dimensions: int, name: str = DEFAULT_ENCODING) -> Encoding:
    """Return the encoding that keeps all dimensions of an embedder's vectors."""
    return Encoding(name, dimensions)


def open_codes(encoding: Encoding, arrays: Arrays) -> Codes:
    """Open the rows of a stream by the arrays of its encoding."""
    return encoding.kind.open(arrays, arrays[INVERSE_NORMS], encoding.dimensions)
