"""Manifest of a bundle with its scoring profile; each fault is a clear error."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..embedders.embedder import EmbedderIdentity
from ..errors import BUILD_AGAIN, BundleError


@dataclass(frozen=True, slots=True)
class Profile:
    """Hold the scoring recipe of one embedder; a floor without its model means nothing.

    ``retrieval.rank`` has the formula. ``floor`` applies to the base score of a passage and the
    share ``floored_boost`` of its boosts, ``note_floor`` to the score of a hint. A model is called
    if a passage reaches ``call_floor``, and then reads passages under the floor as well.
    ``name_boost``, ``title_boost`` and ``theme_boost`` are added to a record when a question has
    its alias, its title or one of its themes, ``recency`` to the newest one when a question is
    about now. ``title_cosine``, ``title_share`` and ``page_words`` weigh the evidence of a page's
    title and of its best passages' words, ``questions`` that of the questions that a section is
    known to answer, ``label_words`` the words of a hint's label and locator, and ``history``
    multiplies the scores of pages of history unless a question asks for them.
    """

    hybrid: float = 1.0
    dense: float = 0.75
    floor: float = 0.36
    note_floor: float = 0.45
    call_floor: float = 0.26
    theme_fade: float = 1.0
    floored_boost: float = 0.0
    name_boost: float = 0.30
    title_boost: float = 0.0
    theme_boost: float = 0.15
    recency: float = 0.10
    title_cosine: float = 0.10
    title_share: float = 0.15
    page_words: float = 0.15
    questions: float = 0.25
    history: float = 0.8
    label_words: float = 0.20

    def as_json(self) -> dict[str, Any]:
        """Return the profile as a manifest holds it."""
        return asdict(self)


# Of the local embedder: the lowest and the highest note floor, how many windows of notes take the
# highest one, and by how much it falls each time that there are 2.718 times fewer.
_NOTE_FLOOR_RANGE = (0.20, 0.45)
_MANY_WINDOWS = 400
_NOTE_FLOOR_STEP = 0.05


def scale_note_floor(windows: int) -> float:
    """Scale the note floor to a notebook: of few windows one comes close by chance less often.

    The greatest of n cosines by chance grows with the logarithm of n.
    """
    least, most = _NOTE_FLOOR_RANGE
    fallen = most - _NOTE_FLOOR_STEP * math.log(_MANY_WINDOWS / max(windows, 1))
    return round(min(max(fallen, least), most), 3)


# The reference's recipe, until it is calibrated: plain cosine, the floor after unfaded boosts.
OPENAI_PROFILE = Profile(
    hybrid=0.0, floor=0.2, note_floor=0.2, call_floor=0.2, theme_fade=0.0, floored_boost=1.0,
    title_boost=0.30, title_cosine=0.0, title_share=0.0, page_words=0.0, history=1.0,
    label_words=0.0,
)  # fmt: skip

# The floor was measured on four public question sets; the note floor on our own gold set.
LOCAL_PROFILE = Profile()


WIRE_VERSION = 8
MANIFEST_FILE = "manifest.json"
# The numbers of vectors, as a manifest names them.
_ENCODING = "int8"
COUNT_NAMES = (
    "records", "passages", "terms", "words", "questions", "answers", "hints", "windows",
)  # fmt: skip
# Enough for 80,000 passages, and few enough to fetch.
_MAX_FILES = 10_000
# What a build has written, of earlier wire versions too, which the next one removes.
_STORED_FILE = re.compile(r"[a-z-]+-[0-9a-f]{16}\.(?:bin|npy|json|blocks|z|txt\.z)")
_FILE_NAME = re.compile(r"([a-z-]+)-([0-9a-f]{16})\.bin")

# Values of a profile that are added to a score or multiplied with one.
_NON_NEGATIVE_FIELDS = (
    "floored_boost", "name_boost", "title_boost", "theme_boost", "theme_fade", "recency",
    "title_cosine", "title_share", "page_words", "questions", "history", "label_words",
)  # fmt: skip

_SHA256_DIGITS = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file of an index: its name, its size, and what it has once it is decompressed.

    The name is its kind and the first digits of its SHA-256, so that a new index never overwrites
    a file of the one in use, and replacing the manifest is the single step from old to new.
    ``content``: 0 for a file that is not compressed, such as vectors that no browser loads.
    """

    name: str
    bytes: int
    content: int

    @property
    def kind(self) -> str:
        """The kind of file, which tells its columns."""
        return self.name.rpartition("-")[0]


def name_file(kind: str, data: bytes) -> str:
    """Name a file by its kind and the first digits of its SHA-256."""
    # OpenSSL's library, which takes a while to load: only where something is verified.
    import hashlib

    return f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}.bin"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is said of an index: where it comes from, how it is scored, and its files in order.

    ``dimensions``: of its vectors; ``counts``: by ``COUNT_NAMES``. ``starts``: of each kind that is
    split into files, the first row of each, or the beginning of words that it is for.
    """

    id: str
    built_at: str
    generator: str
    identity: EmbedderIdentity
    profile: Profile
    dimensions: int
    counts: Mapping[str, int]
    files: tuple[IndexFile, ...]
    starts: Mapping[str, tuple[Any, ...]]

    @property
    def bytes(self) -> int:
        """The size of all files, the manifest aside."""
        return sum(file.bytes for file in self.files)

    def files_of(self, kind: str) -> list[IndexFile]:
        """List the files of a kind in order."""
        return [file for file in self.files if file.kind == kind]

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as it is written, but for the table of columns."""
        return {
            "wire": WIRE_VERSION,
            "id": self.id,
            "built_at": self.built_at,
            "generator": self.generator,
            "embedder": self.identity.as_json(),
            "profile": self.profile.as_json(),
            "encoding": _ENCODING,
            "dimensions": self.dimensions,
            "counts": dict(self.counts),
            "files": [[file.name, file.bytes, file.content] for file in self.files],
            "starts": {kind: list(starts) for kind, starts in self.starts.items()},
        }


def compute_bundle_id(
    identity: EmbedderIdentity, profile: Profile, dimensions: int, files: Iterable[IndexFile]
) -> str:
    """Hash all that a bundle's answers depend on, but not the time of the build."""
    import hashlib

    vectors = {"encoding": _ENCODING, "dimensions": dimensions}
    parts = [WIRE_VERSION, identity.as_json(), profile.as_json(), vectors]
    parts.append(sorted(file.name for file in files))
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_stored_file_name(name: str) -> bool:
    """True if a file of that name is one of some bundle."""
    return _STORED_FILE.fullmatch(name) is not None


def read_manifest(folder: Path, *, verify: bool = True) -> Manifest:
    """Read and check a folder's manifest; BundleError names what is wrong.

    verify: its id has to be that of its contents.
    """
    path = folder / MANIFEST_FILE
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BundleError(f"{path} does not exist: run `answerable build` first") from None
    except OSError as error:
        raise BundleError(
            f"{path} cannot be read ({error.strerror}): check its permissions, or build again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} cannot be read ({error!s:.200}): {BUILD_AGAIN}") from None
    return parse_manifest(data, str(path), verify=verify)


def parse_manifest(data: object, where: str, *, verify: bool = True) -> Manifest:
    """Check a manifest's JSON. where: its name in an error. See ``read_manifest``."""
    wire = data.get("wire") if isinstance(data, dict) else None
    if not isinstance(data, dict) or wire != WIRE_VERSION:
        raise BundleError(
            f"{where} is not wire version {WIRE_VERSION} (it says {wire!r:.80}): delete the "
            "folder, then build again"
        )
    try:
        manifest = _parse_fields(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BundleError(f"{where} is malformed ({error!r:.200}): {BUILD_AGAIN}") from None
    if verify and manifest.id != compute_bundle_id(
        manifest.identity, manifest.profile, manifest.dimensions, manifest.files
    ):
        raise BundleError(f"{where}: its id does not match its contents: {BUILD_AGAIN}")
    return manifest


def _parse_fields(data: Mapping[str, Any]) -> Manifest:
    files = tuple(_parse_file(*row) for row in data["files"])
    if len(files) > _MAX_FILES:
        raise ValueError(f"its {len(files)} files")
    identity = EmbedderIdentity(**data["embedder"])
    if data["encoding"] != _ENCODING:
        raise ValueError(f"the encoding {data['encoding']!r:.80}")
    dimensions = _check_count(data["dimensions"])
    if not 1 <= dimensions <= _check_count(identity.dimensions):
        raise ValueError(f"{dimensions} of {identity.dimensions} dimensions")
    if not all(isinstance(text, str) for text in (identity.provider, identity.model)):
        raise TypeError("the embedder has a value of the wrong type")
    return Manifest(
        id=_check_digest(data["id"]),
        built_at=str(data["built_at"]),
        generator=str(data["generator"]),
        identity=identity,
        profile=parse_profile(data["profile"]),
        dimensions=dimensions,
        counts={name: _check_count(data["counts"][name]) for name in COUNT_NAMES},
        files=files,
        starts={str(kind): tuple(starts) for kind, starts in data["starts"].items()},
    )


def _parse_file(name: object, size: object, content: object) -> IndexFile:
    if not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
        raise ValueError(f"{name!r:.80} is not the name of a file")
    return IndexFile(name, _check_count(size), _check_count(content))


def parse_profile(data: Mapping[str, Any]) -> Profile:
    """Parse a profile; LookupError, TypeError or ValueError for a missing or bad value."""
    # Defaults are for builds; a bundle has to state every value of its scores.
    missing = {field.name for field in fields(Profile)} - set(data)
    if missing:
        raise ValueError(f"the profile has no {', '.join(sorted(missing))}")
    profile = Profile(**data)
    for value in (profile.floor, profile.note_floor, profile.call_floor):
        _check_number(value, -1e6)
    for name in _NON_NEGATIVE_FIELDS:
        _check_number(getattr(profile, name), 0)
    # Scores are divided by the sum of the weights, in float32.
    if _check_number(profile.hybrid, 0) + _check_number(profile.dense, 0) < 1e-6:
        raise ValueError("the profile's weights are nothing")
    return profile


def _check_number(value: object, least: float) -> float:
    if not isinstance(value, int | float) or not least <= value < 1e6:
        raise ValueError(f"{value!r:.80} is out of range")
    return value


def _check_count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r:.80} is not a count")
    return value


def _check_digest(value: object) -> str:
    if not isinstance(value, str) or not _SHA256_DIGITS.fullmatch(value):
        raise ValueError(f"{value!r:.80} is not a SHA-256")
    return value
