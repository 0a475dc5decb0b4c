"""Manifest of a bundle with its scoring profile; each fault is a clear error."""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..errors import BUILD_AGAIN, BundleError
from ..vectors import EmbedderIdentity

_Count = Annotated[int, Meta(ge=0)]
_Floor = Annotated[float, Meta(ge=-1e6, lt=1e6)]
_Weight = Annotated[float, Meta(ge=0, lt=1e6)]


@dataclass(frozen=True, slots=True)
class Profile:
    """The scoring recipe of one embedder; a floor without its model means nothing.

    ``retrieval.rank`` has the formula. ``floor`` applies to the base score of a passage and the
    share ``floored_boost`` of its boosts, ``note_floor`` to the score of a hint. A model is called
    if a passage reaches ``call_floor``, and then reads passages under the floor as well.
    ``name_boost``, ``title_boost`` and ``theme_boost`` are added to a record when a question has
    its alias, its title or one of its themes. ``title_cosine``, ``title_share`` and ``page_words``
    weigh the evidence of a page's title and of its best passages' words, ``questions`` that of the
    questions that a section is known to answer, ``label_words`` the words of a hint's label and
    locator, and ``history`` multiplies the scores of pages of history unless a question asks for
    them.
    """

    hybrid: _Weight = 1.0
    dense: _Weight = 0.75
    floor: _Floor = 0.36
    note_floor: _Floor = 0.45
    call_floor: _Floor = 0.26
    theme_fade: _Weight = 1.0
    floored_boost: _Weight = 0.0
    name_boost: _Weight = 0.30
    title_boost: _Weight = 0.0
    theme_boost: _Weight = 0.15
    title_cosine: _Weight = 0.10
    title_share: _Weight = 0.15
    page_words: _Weight = 0.15
    questions: _Weight = 0.25
    history: _Weight = 0.8
    label_words: _Weight = 0.20


def scale_note_floor(windows: int) -> float:
    """Scale the note floor to a notebook: of few windows one comes close by chance less often.

    The greatest of n cosines by chance grows with the logarithm of n. Measured for the local
    embedder: 0.45 for 400 windows, and 0.05 less for each 2.718 times fewer.
    """
    fallen = 0.45 - 0.05 * math.log(400 / max(windows, 1))
    return round(min(max(fallen, 0.20), 0.45), 3)


# The reference's recipe, until it is calibrated: plain cosine, the floor after unfaded boosts.
OPENAI_PROFILE = Profile(
    hybrid=0.0, floor=0.2, note_floor=0.2, call_floor=0.2, theme_fade=0.0, floored_boost=1.0,
    title_boost=0.30, title_cosine=0.0, title_share=0.0, page_words=0.0, history=1.0,
    label_words=0.0,
)  # fmt: skip

# The floor was measured on four public question sets; the note floor on our own gold set.
LOCAL_PROFILE = Profile()


WIRE_VERSION = 9
MANIFEST_FILE = "manifest.json"
# The numbers of vectors, as a manifest names them.
_ENCODING = "int8"
_PACK_NAME = r"\A[a-z]+-[0-9a-f]{16}\.bin\Z"


class Part(msgspec.Struct, frozen=True, array_like=True):
    """A container in a pack: its kind, and its size before and after it is decompressed.

    ``content``: 0 for one that is not compressed, such as vectors that no browser loads.
    """

    kind: Annotated[str, Meta(pattern=r"\A[a-z]+\Z")]
    bytes: _Count
    content: _Count


class Pack(msgspec.Struct, frozen=True, array_like=True):
    """A file of an index: its name, and its containers, one after the other.

    The name is its kind and the first digits of its SHA-256, so that a new index never overwrites
    a file of the one in use, and replacing the manifest is the single step from old to new.
    """

    name: Annotated[str, Meta(pattern=_PACK_NAME)]
    parts: tuple[Part, ...]

    @property
    def kind(self) -> str:
        """The kind of file, which tells whether a site publishes it."""
        return self.name.partition("-")[0]

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return sum(part.bytes for part in self.parts)


def name_file(kind: str, data: bytes | memoryview) -> str:
    """Name a file by its kind and the first digits of its SHA-256."""
    # OpenSSL's library, which takes a while to load: only where something is verified.
    import hashlib

    return f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}.bin"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is said of an index: where it comes from, how it is scored, and its files in order.

    ``dimensions``: of its vectors; ``counts``: as ``count_rows`` names them. ``rows_per_part``: how
    many passages or answers a part holds. ``term_starts``: the beginning of the first words of
    each part of terms.
    """

    id: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    built_at: str
    generator: str
    identity: EmbedderIdentity
    profile: Profile
    dimensions: Annotated[int, Meta(ge=1)]
    counts: dict[str, _Count]
    packs: tuple[Pack, ...]
    rows_per_part: Annotated[int, Meta(ge=1)]
    term_starts: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.dimensions > self.identity.dimensions:
            raise ValueError(f"{self.dimensions} of {self.identity.dimensions} dimensions")
        # Scores are divided by the sum of the weights, in float32.
        if self.profile.hybrid + self.profile.dense < 1e-6:
            raise ValueError("the profile's weights are nothing")

    @property
    def bytes(self) -> int:
        """The size of all files, the manifest aside."""
        return sum(pack.bytes for pack in self.packs)

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as it is written, but for the table of columns."""
        return {"wire": WIRE_VERSION, "encoding": _ENCODING, **msgspec.to_builtins(self)}


def compute_bundle_id(
    identity: EmbedderIdentity, profile: Profile, dimensions: int, packs: Iterable[Pack]
) -> str:
    """Hash all that a bundle's answers depend on, but not the time of the build."""
    import hashlib

    # A whole number is read back as a float.
    scores = list(map(float, astuple(profile)))
    names = sorted(pack.name for pack in packs)
    parts = [WIRE_VERSION, _ENCODING, dimensions, identity, scores, names]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def is_pack_name(name: str) -> bool:
    """True if a file of that name is one of some bundle."""
    return re.match(_PACK_NAME, name) is not None


def read_manifest(folder: Path, *, verify: bool = True) -> Manifest:
    """Read and check a folder's manifest; BundleError names what is wrong.

    verify: its id has to be that of its contents.
    """
    path = folder / MANIFEST_FILE
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BundleError(f"{path} does not exist: build the site first") from None
    except OSError as error:
        raise BundleError(
            f"{path} cannot be read ({error.strerror}): check its permissions, or build again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} cannot be read ({error!s:.200}): {BUILD_AGAIN}") from None
    return parse_manifest(data, str(path), verify=verify)


def parse_manifest(data: object, where: str, *, verify: bool = True) -> Manifest:
    """Check a manifest's JSON. where: its name in an error. See ``read_manifest``."""
    versions = (data.get("wire"), data.get("encoding")) if isinstance(data, dict) else (None, None)
    if versions != (WIRE_VERSION, _ENCODING):
        raise BundleError(
            f"{where} is not wire version {WIRE_VERSION} (it says {versions[0]!r:.80}): delete the "
            "folder, then build again"
        )
    try:
        manifest = msgspec.convert(data, Manifest)
    except ValueError as error:
        raise BundleError(f"{where} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    if verify and manifest.id != compute_bundle_id(
        manifest.identity, manifest.profile, manifest.dimensions, manifest.packs
    ):
        raise BundleError(f"{where}: its id does not match its contents: {BUILD_AGAIN}")
    return manifest
