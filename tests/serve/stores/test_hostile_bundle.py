"""A bundle that an attacker or a broken disk has changed is refused in a sentence or harmless."""

import io
import itertools
import json
import math
import os
import pickle
import random
import re
import sys
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.indexing.output.bundle_writer import serialize_index, write_bundle
from answerable.serve.answers.extractive import ExtractiveAnswerer
from answerable.serve.answers.wire import serialize_answer
from answerable.serve.bundle_format import manifest as manifest_module
from answerable.serve.bundle_format.container import (
    CONTAINER_FORMAT,
    Container,
    pack_container,
    unpack_container,
)
from answerable.serve.bundle_format.manifest import (
    Profile,
    stored_file_name,
)
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.engine import Engine
from answerable.serve.errors import BundleError, EmbedderError
from answerable.serve.retrieval.retrieve import RetrievalResult
from answerable.serve.retrieval.scoring import Scored
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.structure import BLOCK_KINDS, MAX_LEVEL, SPAN_KINDS, is_safe_url
from answerable.serve.types import Passage
from support import doubles
from support.doubles import NOON, index_of, note, record
from support.fuzz_settings import DEEP as FUZZES_DEEPLY
from support.scripted import LetterEmbedder

LEAST = 3000
SMALL = 16 * 1024 * 1024
QUESTION = "Is the latest rope of hemp in the Harbour strong enough to hold?"
IDENTITY = EmbedderIdentity(provider="local", model="letters", dimensions=16)
PROFILE = Profile(floor=0.05, note_floor=0.05)

CORE, COLUMNS, CONTEXTS, TEXTS = (
    manifest_module.CORE_FILE, manifest_module.COLUMNS_FILE, manifest_module.CONTEXTS_FILE,
    manifest_module.TEXTS_FILE,
)  # fmt: skip
# The files that are one container each.
CONTAINERS = tuple(name for name in manifest_module.SHARED_FILES if name != TEXTS)

_REMEDY = re.compile(r"run `answerable build`|build again")
# Nobody reads a longer one, and a terminal or a log may not take it.
_SENTENCE = 1000


LETTERS = LetterEmbedder(IDENTITY)
VECTOR = LETTERS.embed([QUESTION])[0]


@dataclass
class Draft:
    """A bundle in memory: its manifest, its files by name, and what is written as it stands.

    ``signed``: whether hashes, sizes and the id are made to agree with the files.
    """

    manifest: dict[str, Any]
    files: dict[str, bytes]
    text: bytes | None = None
    signed: bool = True
    verify: bool = False

    def container(self, name: str) -> Container:
        """The values and arrays of a file."""
        return unpack_container(self.files[name], name)

    def change(self, name: str, column: str, value: object) -> None:
        """Replace a column of a file, one of numbers by an array."""
        whole = self.container(name)
        values, arrays = dict(whole.values), dict(whole.arrays)
        (arrays if isinstance(value, np.ndarray) else values)[column] = value  # type: ignore[assignment]
        self.files[name] = pack_container(Container(values, arrays))

    def site(self) -> Any:
        """Read the description of the site."""
        return self.container(CORE).values["site"]

    def put_site(self, value: object) -> None:
        """Replace what the site is described by."""
        self.change(CORE, "site", value)

    def put(self, name: str, data: bytes) -> None:
        """Replace what is compressed in a file."""
        self.files[name] = zlib.compress(data, 1)

    def put_header(self, name: str, values: bytes) -> None:
        """Replace the values of a container as they are written, without arrays."""
        start = f'{{"format":"{CONTAINER_FORMAT}","values":'.encode()
        header = start + values + b',"arrays":[]}'
        self.put(name, len(header).to_bytes(4, "little") + header)

    def shards(self) -> list[bytes]:
        """The shards of texts, each compressed."""
        sizes = self.container(CONTEXTS).arrays["textsSizes"].tolist()
        edges = [0, *itertools.accumulate(sizes)]
        return [self.files[TEXTS][a:b] for a, b in itertools.pairwise(edges)]

    def put_shards(self, shards: Sequence[bytes]) -> None:
        """Replace the shards of texts by what is compressed already, with sizes that fit."""
        self.files[TEXTS] = b"".join(shards)
        self.change(CONTEXTS, "textsSizes", np.array(list(map(len, shards)), dtype=np.uint32))


Edit = Callable[[Draft], object]
Kind = Callable[[Draft, random.Random], Iterator[tuple[str, Edit]]]


def signed(data: dict[str, Any], files: Mapping[str, bytes], changed: set[str]) -> None:
    """Make a manifest agree with its files and with itself, as far as it has the shape for it."""
    try:
        for name in changed:
            digest = sha256(files[name]).hexdigest()
            data["files"][name] = {"bytes": len(files[name]), "sha256": digest}
        encoding = {"encoding": data["encoding"], "dimensions": data["dimensions"]}
        parts = [manifest_module.WIRE_VERSION, data["embedder"], data["profile"], encoding]
        parts.append(sorted((name, file["sha256"]) for name, file in data["files"].items()))
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        data["id"] = sha256(text.encode()).hexdigest()
    except (LookupError, TypeError, AttributeError, RecursionError):
        return


def flipped(data: bytes, rng: random.Random) -> bytes:
    """Bytes with one bit turned."""
    if not data:
        return b"\x01"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


# How often a bit is flipped somewhere, at random.
TURNS = 2 if FUZZES_DEEPLY else 1


def flips(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """One bit of a file, where only a hash could tell."""

    def edit(d: Draft, name: str, data: bytes, verify: bool) -> None:
        d.files[name], d.signed, d.verify = data, False, verify

    for name, data in sorted(draft.files.items()):
        for turn in range(7 * TURNS):
            yield name, partial(edit, name=name, data=flipped(data, rng), verify=turn < 2)
        # An array's header is where the most depends on few bytes.
        for _ in range(7 * TURNS if name.endswith(".npy") else 0):
            changed = flipped(data[:128], rng) + data[128:]
            yield f"{name} header", partial(edit, name=name, data=changed, verify=False)


def inner_flips(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """One bit of what a file decompresses to."""

    for name in CONTAINERS:
        plain = zlib.decompress(draft.files[name])
        for _ in range(22 * TURNS):
            yield name, partial(Draft.put, name=name, data=flipped(plain, rng))
        # Its header is where the most depends on few bytes.
        for _ in range(12 * TURNS):
            changed = flipped(plain[:60], rng) + plain[60:]
            yield f"{name} header", partial(Draft.put, name=name, data=changed)
    shards = draft.shards()
    for turn in range(30 * TURNS):
        number = turn % len(shards)
        changed = zlib.compress(flipped(zlib.decompress(shards[number]), rng), 1)
        changed_shards = [*shards[:number], changed, *shards[number + 1 :]]
        yield TEXTS, partial(Draft.put_shards, shards=changed_shards)


def manifest_flips(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """One bit of the manifest as it is written, with its id and then without."""
    whole = json.dumps(draft.manifest, indent=1, sort_keys=True).encode()

    def raw(d: Draft, text: bytes) -> None:
        d.text = text

    def signed_again(d: Draft, text: bytes) -> None:
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if isinstance(data, dict):
            d.manifest = data
        else:
            d.text = text

    for _ in range(50 * TURNS):
        text = flipped(whole, rng)
        yield "raw", partial(raw, text=text)
        yield "signed", partial(signed_again, text=text)
    for _ in range(10):
        yield "cut", partial(raw, text=whole[: rng.randrange(len(whole))])
    for bad in (b"", b"[" * 100_000, b"\xff\xfe", b"\x00" * 40, b'{"wire":' * 900, b"1" * 5000):
        yield "no manifest", partial(raw, text=bad)
    for depth in (300, 900, 950, 980, 990, 994, 996, 998):
        for key in ("wire", "built_at", "encoding", "id", "generator"):
            deep = {**draft.manifest, key: 0}
            nested = "[" * depth + "]" * depth
            text = json.dumps(deep).replace(f'"{key}": 0', f'"{key}": {nested}').encode()
            yield f"deep {key} {depth}", partial(raw, text=text)


def lengths(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Files cut short or with more behind them, their sizes and hashes signed again."""

    def edit(d: Draft, name: str, data: bytes) -> None:
        d.files[name], d.verify = data, len(data) % 3 == 0

    for name, data in sorted(draft.files.items()):
        ends = (0, 1, 2, 6, 10, 64, 127, 128, len(data) - 1, rng.randrange(len(data) + 1))
        for end in ends:
            yield f"{name}[:{end}]", partial(edit, name=name, data=data[:end])
        yield f"{name} more", partial(edit, name=name, data=data + b"\0")
        yield f"{name} twice", partial(edit, name=name, data=data + data)
        yield f"{name} noise", partial(edit, name=name, data=rng.randbytes(len(data)))


DEEP = json.loads("[" * 200 + "]" * 200)
NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**32, 2**62, 2**63, 2**64, 10**400, -(2**62), 1.5, 0.0,
    -0.0, 1e308, 5e-324, 1e-320, float("nan"), float("inf"), float("-inf"), "", "x", "\ud800",
    "\x00", "\n", "1", "é" * 300, "../x", "/etc/passwd", [], [[]], [0], [None], {}, {"a": 1},
    {"": {}}, DEEP, [[1, 2, 3]], ["a"] * 40, [0] * 40, [[0, 1]] * 40,
)  # fmt: skip
UNSAFE = (
    "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\nscript:x",
    "\x01javascript:x", "data:text/html,<script>", "vbscript:x", "file:///etc/passwd", "ftp://x/",
    "//evil.example/", "///evil.example/", "/\\evil.example", "\\\\evil.example", "/a b",
    "/a\tb", "/a\nb", "/a\r\nb", "/\x00", "/\x7f", "/\x85", "/\xa0", "", "guide/", "../guide/",
    "HTTPS://a.example/", "https:/a.example", "https:a.example", "blob:https://a.example/x",
    "about:blank", "mailto:a@b.example", "\ufeff/x", "\u200bhttps://x/", "?q", "#a",
)  # fmt: skip
Place = tuple[Any, ...]


def leaves(value: Any, at: Place = ()) -> Iterator[Place]:
    """The place of every value in a JSON value, the whole of it left out."""
    items: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        items = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    for key, inner in items:
        yield (*at, key)
        yield from leaves(inner, (*at, key))


def placed(root: Any, at: Place, value: object) -> None:
    """Put a value at a place of a JSON value."""
    for key in at[:-1]:
        root = root[key]
    root[at[-1]] = value


def removed(root: Any, at: Place) -> None:
    """Take away what is at a place of a JSON value."""
    for key in at[:-1]:
        root = root[key]
    del root[at[-1]]


def in_manifest(d: Draft, at: Place, value: object) -> None:
    placed(d.manifest, at, deepcopy(value))


def manifest_edits(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Any value at any place of the manifest, which is signed again."""
    places = list(leaves(draft.manifest))
    for at in places:
        own = at[:1] in (("counts",), ("dimensions",), ("profile",), ("encoding",))
        for value in rng.sample(NASTY, 24 if own else 5):
            yield f"{at} = {value!r:.30}", partial(in_manifest, at=at, value=value)
        yield f"without {at}", lambda d, at=at: removed(d.manifest, at)  # type: ignore[misc]
    for dimensions in (1, 8, 15, 16, 17):
        yield f"@{dimensions}", partial(in_manifest, at=("dimensions",), value=dimensions)
    for weight in (0, 5e-324, 1e-320, 1e-50, 1e-38, 999_999.0, 999_999):
        for other_weight in (0, 5e-324, 1e-50, 999_999.0):
            yield (
                f"weights {weight} {other_weight}",
                partial(
                    lambda d, **new: d.manifest["profile"].update(new),
                    hybrid=weight,
                    dense=other_weight,
                ),
            )
    outside = str(Path(__file__).resolve())
    for bad in ("../x.json", "/etc/passwd", outside, "..", ".", "", "a/b", "C:\\x", "\x00"):

        def renamed(d: Draft, bad: str = bad) -> None:
            d.manifest["files"][bad] = d.manifest["files"].pop(CORE)

        def added(d: Draft, bad: str = bad) -> None:
            d.manifest["files"][bad] = d.manifest["files"][CORE]

        def hashed(d: Draft, bad: str = bad) -> None:
            d.manifest["files"][CORE]["sha256"] = bad.ljust(64, "0")

        yield f"file name {bad!r}", renamed
        yield f"one more file {bad!r}", added
        yield f"hash {bad!r}", hashed


def huge_counts(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Counts and dimensions far beyond what the files hold, alone and together."""
    del rng
    huge = (2**20, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**64, 10**30)
    for name, count in itertools.product(manifest_module.COUNT_NAMES, huge):
        yield f"{name} = {count}", partial(in_manifest, at=("counts", name), value=count)
    for count in (*huge, 0, 1):
        every = dict.fromkeys(manifest_module.COUNT_NAMES, count)
        yield f"all = {count}", partial(in_manifest, at=("counts",), value=every)
    for count in huge:

        def wide(d: Draft, count: int = count) -> None:
            d.manifest["embedder"]["dimensions"] = d.manifest["dimensions"] = count

        yield f"dimensions = {count}", wide
    del draft


def site_edits(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Any value at any place of what the site is described by."""

    def edit(d: Draft, at: Place, value: object) -> None:
        root = d.site()
        placed(root, at, value)
        d.put_site(root)

    def drop(d: Draft, at: Place) -> None:
        root = d.site()
        removed(root, at)
        d.put_site(root)

    for at in leaves(draft.site()):
        yield f"without {at}", partial(drop, at=at)
        for value in rng.sample(NASTY, 20):
            yield f"{at} = {value!r:.30}", partial(edit, at=at, value=value)
    for value in rng.sample(NASTY, 20):
        yield f"{value!r:.30}", partial(Draft.put_site, value=value)
    for rows in LANGUAGES:
        yield f"languages {rows}", partial(edit, at=("languages",), value=rows)
    texts = ("[" * 100_000, "{}" * 2, "NaN", '{"a":' * 500, "1" * 5000, "\ufeff{}", "\udc80")
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        for name in CONTAINERS:
            yield f"{name} {text:.9}", partial(Draft.put_header, name=name, values=data)


def line_edits(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Texts that are missing, too many, no text or no date, in files of columns that unpack."""
    bad: tuple[Any, ...] = (
        "", " ", "\x00", "\ud800", "\r", "x\ny", "\n", "\u2028", "x" * 70_000, "🪢" * 99, "../x",
        "{label}", "{", "\ufeff", "\u202e", "<script>", "~1", "note:", "\x1b[31m", "hemp " * 999,
        "#", "#~1", "#~", ["whole#id"], [], [None], [[]], None, 5, True, {}, 1e400, DEEP,
    )  # fmt: skip
    dates = ("2024-02-30", "0001-01-01", "9999-12-31", "20240501", "-", "2024-W01-1", "٢٠٢٤-٠١-٠١")
    for name in CONTAINERS:
        values = draft.container(name).values
        lists = {column: texts for column, texts in values.items() if isinstance(texts, list)}
        lists |= {f"phrases {table}": texts for table, texts in values.get("phrases", {}).items()}
        for column, texts in lists.items():

            def put(d: Draft, texts: object, name: str = name, column: str = column) -> None:
                _, _, table = column.partition(" ")
                if table:
                    tables = d.container(name).values["phrases"] | {table: texts}
                    d.change(name, "phrases", tables)
                else:
                    d.change(name, column, texts)

            first = texts[:1] or ["x"]
            places = {
                "none": [], "one": first, "fewer": texts[1:], "more": [*texts, "x"],
                "turned": texts[::-1], "alike": first * len(texts), "empty": [""] * len(texts),
                "mixed": rng.sample(texts, len(texts)), "twice": texts * 2,
                "text": "x" * len(texts), "object": {str(row): "x" for row in range(len(texts))},
                "null": None,
            }  # fmt: skip
            for label, changed in places.items():
                yield f"{name} {column} {label}", partial(put, texts=changed)
            for text in (*rng.sample(bad, 16), *(dates if column == "dates" else ())):
                at = rng.randrange(max(len(texts), 1))
                changed = [*texts[:at], text, *texts[at + 1 :]]
                yield f"{name} {column}[{at}] = {text!r:.9}", partial(put, texts=changed)


LANGUAGES: tuple[Any, ...] = (
    [], [["en", 0, 20], ["fr", 20, 40]], [["en", 0, 39]], [["en", 0, 41]], [["en", -1, 40]],
    [["en", 0, float("inf")]], [["en", float("nan"), 40]], [["en", 0, 10**400]],
    [["en", "0", "40"]], [["en", 0.9, 40.9]], [["en", False, 40]], [["zz-x_y", 0, 40]],
    [["xx" * 20, 0, 40]], [[None, 0, 40]], [["en", 0, 20], ["EN", 20, 40]], [["en", 0, 40, 1]],
    [["en", 0, 2**62], ["fr", 2**62, 40]], "en", {"en": 40}, [["ja", 0, 1], ["ar", 1, 40]],
)  # fmt: skip


def unsafe_urls(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """A url that leads a reader somewhere else, in each file that has urls."""
    del draft

    def edit(d: Draft, name: str, column: str, url: str, at: int) -> None:
        urls = d.container(name).values[column]
        d.change(name, column, [*urls[:at], url, *urls[at + 1 :]])

    for url in UNSAFE:
        for name, column, count in (
            (CORE, "passageUrls", 40),
            (CORE, "recordUrls", 40),
            (manifest_module.HINTS_FILE, "urls", 5),
        ):
            change = partial(edit, name=name, column=column, url=url, at=rng.randrange(count))
            yield f"{column} {url!r}", change
        yield (
            f"{CORE} {url!r}",
            lambda d, url=url: d.put_site(d.site() | {"url": url}),  # type: ignore[misc]
        )


BLOCKS: tuple[Any, ...] = (
    [["text", 0, 10**6]], [["text", 5, 2]], [["text", 0, 5], ["text", 3, 9]], [["script", 0, 5]],
    [["item", 0, 5, 1, 10**9]], [["item", 0, 5, -(2**63)]], [["item", 0, 5, 0, 0, "9" * 10**6]],
    [["code", 0, 5, 0, 0, "\x1b[2J"]], [["label", 0, 5, 0, 0, DEEP]], [["row", 0, 5, True]],
    [["text", 0, 5, 1, 1, ""]], [["text", 0, 1]] * 1000,
)  # fmt: skip
SPANS: tuple[Any, ...] = (
    *([["link", 0, 5, url]] for url in UNSAFE), [["link", 0, 5, "/ok/"]], [["cell", 0, 0]] * 1000,
    [["code", 0, 10**6]], [["cell", 5, 2]], [["code", 4, 5], ["code", 0, 2]], [["link", 0, 5, []]],
)  # fmt: skip


def text_edits(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Texts and sentences of the wrong shape, in shards that decompress."""
    whole = draft.shards()
    count = len(whole)

    def packed(number: int, shard: bytes) -> Edit:
        changed = [*whole[:number], shard, *whole[number + 1 :]]
        return partial(Draft.put_shards, shards=changed)

    def passages(number: int) -> list[Any]:
        texts: list[Any] = unpack_container(whole[number], TEXTS).values["passages"]
        return texts

    gaps: tuple[Any, ...] = (
        [0, 10**6], [-5, 3], [5, -3], [0, -1], [10**6, 1], [0], [0, 1, 2], [[0, 1]], [0, 2**63],
        [10**400, 1], [0.0, 5.0], ["0", "5"], [None, None], [True, False], "ab", ["ab"], {}, None,
        5, [], [0, 5] * 1000, [0, 5, -3, 7], [0, float("nan")], [float("inf"), 1], [DEEP, DEEP],
    )  # fmt: skip
    others: tuple[Any, ...] = (
        None, 5, 1.5, [], ["a", "b"], {}, True, [["rope"]], "", "Rope\ud800 of hemp holds strong.",
        "🪢", "\x00" * 50,
    )  # fmt: skip
    damaged = [(1, value) for value in gaps] + [(0, value) for value in others]
    damaged += [(2, value) for value in (*gaps, *BLOCKS)]
    damaged += [(3, value) for value in (*gaps, *SPANS)]
    for place, value in damaged:
        number = rng.randrange(count)
        rows = [[*row[:place], value, *row[place + 1 :]] for row in passages(number)]
        shard = pack_container(Container({"passages": rows}))
        yield f"{place} = {value!r:.40}", packed(number, shard)
    rows_of_none: tuple[Any, ...] = (
        [], "x", 5, None, {}, DEEP, ["x"], ["x", []], ["x", [], []], ["x", [], [], [], []], [[]],
    )  # fmt: skip
    for row in rows_of_none:
        number = rng.randrange(count)
        shard = pack_container(Container({"passages": [row] * len(passages(number))}))
        yield f"row {row!r:.40}", packed(number, shard)
    first = passages(0)
    other_texts: tuple[Any, ...] = (
        first[:-1], [*first, first[0]], [], None, {}, "x" * 8, 5, DEEP,
    )  # fmt: skip
    for texts in other_texts:
        yield f"texts {texts!r:.20}", packed(0, pack_container(Container({"passages": texts})))
    no_passages: tuple[Any, ...] = ({}, [], None, 5, "x", {"passage": first})
    for values in no_passages:
        yield f"values {values!r:.20}", packed(0, pack_container(Container(values)))
    for order in itertools.permutations(range(3)):
        shards = [*(whole[number] for number in order), *whole[3:]]
        yield f"order {order}", partial(Draft.put_shards, shards=shards)
    for number in range(count):
        for bad in (b"", b"x" * 30, whole[number][:-1], whole[number] + b"x", whole[number] * 2):
            yield f"shard {number} of {len(bad)}", packed(number, bad)


def other(value: Any, _: Any) -> Any:
    """Something else than what there is."""
    return value


def most(values: Any) -> Any:
    """The largest number of an array's type, in that type."""
    dtype = values.dtype
    return dtype.type(np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max)


def column_edits(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Numbers that are in no bundle's columns, in columns that unpack."""

    def edit(d: Draft, name: str, column: str, change: Callable[[Any], Any]) -> None:
        with np.errstate(all="ignore"):
            d.change(name, column, change(d.container(name).arrays[column]))

    changes: dict[str, Callable[[Any], Any]] = {
        "+1": lambda v: v + v.dtype.type(1),
        "-1": lambda v: v - v.dtype.type(1),
        "most": lambda v: np.full_like(v, most(v)),
        "half": lambda v: np.full_like(v, most(v) // 2 + 1),
        "zeros": lambda v: np.zeros_like(v),
        "ones": lambda v: np.ones_like(v),
        "reversed": lambda v: v[::-1],
        "shorter": lambda v: v[1:],
        "longer": lambda v: np.append(v, v[-1:]),
        "none": lambda v: v[:0],
        "last": lambda v: np.append(v[:-1], most(v)),
        "first": lambda v: np.append(most(v), v[1:]),
        "signed": lambda v: v.astype(np.int8),
        "floats": lambda v: v.astype(np.float32),
        "no numbers": lambda v: np.full(len(v), np.nan, np.float32),
        "bytes": lambda v: v.astype(np.uint8),
        "wide": lambda v: v.astype(np.uint32),
        "widest": lambda v: np.full(len(v), 2**32 - 1, np.uint32),
    }
    columns = [(n, column) for n in CONTAINERS for column in draft.container(n).arrays]
    for name, column in columns:
        at = f"{name} {column}"
        for label, change in changes.items():
            yield f"{at} {label}", partial(edit, name=name, column=column, change=change)
        for _ in range(4):
            seed = rng.randrange(2**32)

            def noise(values: Any, seed: int = seed) -> Any:
                places = np.random.default_rng(seed).integers(max(len(values), 1), size=3)
                changed = values.copy()
                if len(values):
                    changed[places] = np.random.default_rng(seed).integers(100, size=3)
                return changed

            def shuffled(values: Any, seed: int = seed) -> Any:
                return np.random.default_rng(seed).permutation(values.copy())

            yield f"{at} noise", partial(edit, name=name, column=column, change=noise)
            yield f"{at} order", partial(edit, name=name, column=column, change=shuffled)
    for number in (np.nan, np.inf, -np.inf, -1e-9, -0.0, 10.1, 1e-45):

        def weighed(values: Any, number: float = number) -> Any:
            return np.append(values[:-1], np.float32(number))

        for name, column in ((CORE, "weights"), (COLUMNS, "titleNorms")):
            change = partial(edit, name=name, column=column, change=weighed)
            yield f"{column} {number}", change
    size = len(draft.files[TEXTS])
    sizes: tuple[tuple[int, ...], ...] = (
        (size, 0, 0, 0, 0), (0, 0, 0, 0, size), (size,), (2**32 - 1, 1, 0, 0, size), (),
        (size, size, size, size, size), (1, 1, 1, 1, size - 4), (0,) * 5,
    )  # fmt: skip
    for row in sizes:
        value = np.array(row, dtype=np.uint32)
        change = partial(edit, name=CONTEXTS, column="textsSizes", change=partial(other, value))
        yield f"textsSizes {row}", change
    for name in CONTAINERS:
        for data in (b"", zlib.compress(b""), b"x", zlib.compress(bytes(10**6))):
            yield (
                f"{name} of {len(data)}",
                lambda d, n=name, p=data: d.files.update({n: p}),  # type: ignore[misc]
            )
        for header in ('[["x","Uint32Array",1]]', '[["x","Object",1]]', '[["x","Uint8Array",-1]]',
                       '[["x","Uint8Array",9e18]]', "{}", "null", '[[]]', "[5]"):  # fmt: skip
            text = f'{{"format":"{CONTAINER_FORMAT}","values":{{}},"arrays":{header}}}'.encode()
            data = len(text).to_bytes(4, "little") + text
            yield f"{name} arrays {header}", partial(Draft.put, name=name, data=data)


def npy(header: bytes, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """A file of an array with any header."""
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    width = 2 if version == b"\x01\x00" else 4
    return b"\x93NUMPY" + version + len(header).to_bytes(width, "little") + header + body


def saved(array: Any, **options: Any) -> bytes:
    """A file of an array as numpy writes it."""
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


# An array whose header is said to have four gigabytes.
CLAIM = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"


class Bomb:
    """Ends the process where a pickle is loaded."""

    def __reduce__(self) -> Any:
        return os._exit, (99,)


def headers(dtype: str, shape: tuple[int, ...]) -> dict[str, bytes]:
    """Headers of arrays that claim, do or are something else."""
    start = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': "
    claimed: dict[str, object] = {
        "huge": (2**31, *shape[1:]), "huger": (2**62, *shape[1:]), "both": (2**40, 2**40),
        "wrap": (2**32, 2**32), "most": (2**63, *shape[1:]), "beyond": (2**70, *shape[1:]),
        "negative": (-1, *shape[1:]), "minus": (-40, -16), "nothing": (0, 2**62), "none": (),
        "deep": (1,) * 70, "bools": (True, *shape[1:]), "list": list(shape), "float": (40.0,),
        "text": "40", "number": 40, "digits": (int("9" * 400), 1),
    }  # fmt: skip
    headers = {name: f"{start}{value}, }}".encode() for name, value in claimed.items()}
    literals = {
        "call": "__import__('os').system('exit')", "name": "x", "power": "9**9**9",
        "product": "'x' * 10**9", "joined": "(" * 150 + "1" + ")" * 150, "minus": "-" * 9000 + "1",
        "brackets": "[" * 3000, "brackets closed": "[" * 90 + "]" * 90, "sum": "1" + "+1" * 3000,
        "long": "40L", "python2": "(40L, 16L)", "escape": "'\\d'", "octal": "040", "set": "{1, 2}",
        "unhashable": "{[]: 1}", "f-string": "f'{x}'", "bytes": "b'\\xff'", "called": "(1)(2)",
        "keyword": "1if 1else 2", "quote": "'", "triple": "'''", "indent": "1\n  2\n 3",
        "complex": "1+2j", "null": "\x00", "dots": "...", "lambda": "lambda: 0",
        "digits": "9" * 5000,
    }  # fmt: skip
    for name, literal in literals.items():
        headers[f"shape {name}"] = f"{start}{literal}, }}".encode("latin-1")
        headers[f"only {name}"] = literal.encode("latin-1")
    descrs = (
        "'|O'", "'O8'", "'a5'", "'|S0'", "'|V0'", "'|V9999999'", "'<M8[s]'", "'>f4'", "'=f4'",
        "'<c8'", "'<U1'", "'x'", "''", "'4294967296f4'", "'(2,2)f4'", "'f4,f4'", "[('a', '<f4')]",
        "[('a', '<f4', (2,))]", "[('a', [('b', '<f4')])]", "[]", "None", "5", "('<f4', (2,))",
        "('<f4', (4294967296,))", "[('', '|V4')]", "[('a', '|O')]", "{}", "'\\x00'", "('O', 2)",
        "'V' * 2", "[('a',)]", "[(('a', 'b'), '<f4')]", "'<f4' '<f4'", "'i' 'nt'", "'b1'",
    )  # fmt: skip
    for descr in descrs:
        text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
        headers[f"descr {descr}"] = text.encode()
    for order in ("True", "None", "0", "'C'"):
        text = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}"
        headers[f"order {order}"] = text.encode()
    for bad in (b"{}", b"", b"[]", b"{'descr': 1}", b"\xff\xfe", b"{1: 2, 'a': 3, None: 4}"):
        headers[f"header {bad!r}"] = bad
    return headers


def arrays(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Arrays of other numbers, types, shapes and headers."""

    def edit(d: Draft, name: str, data: bytes) -> None:
        d.files[name], d.verify = data, len(data) % 5 == 0

    for name in sorted(set(draft.files) - set(manifest_module.SHARED_FILES)):
        array = np.load(io.BytesIO(draft.files[name]))
        body = array.tobytes()
        dtype, shape = array.dtype.str, array.shape
        files: dict[str, bytes] = {}
        for number in (np.nan, np.inf, -np.inf, -1.0, 2.0, 1e-45, 3e38, -3e38, 1.0, 0.0):
            if array.dtype.kind != "f":
                continue
            changed = array.copy()
            changed.flat[rng.randrange(changed.size)] = number
            files[f"one {number}"] = saved(changed)
            files[f"all {number}"] = saved(np.full_like(array, number))
        for number in (0, 1, 127, 128, 255):
            if array.dtype.kind != "f":
                files[f"all {number}"] = saved(np.full(shape, number).astype(dtype))
        for other in ("<f8", ">f4", "<f2", "|i1", "|u1", "|b1", "<c8", "|S4", "<i4", "<u8"):
            files[f"as {other}"] = saved(np.resize(np.arange(3), shape).astype(other))
        files["objects"] = saved(np.full(shape, None, dtype=object), allow_pickle=True)
        files["pickle"] = pickle.dumps(Bomb())
        files["array of a bomb"] = saved(np.array([Bomb()] * 40, dtype=object), allow_pickle=True)
        files["fortran"] = saved(np.asfortranarray(array))
        files["flat"] = saved(array.reshape(-1))
        files["turned"] = saved(array.T)
        files["one more axis"] = saved(array[..., np.newaxis])
        files["scalar"] = saved(np.array(1, dtype=dtype))
        files["fewer"] = saved(array[1:])
        files["more"] = saved(np.concatenate([array, array[:1]]))
        zipped = io.BytesIO()
        np.savez(zipped, array)
        files["archive"] = zipped.getvalue()
        files["half an archive"] = zipped.getvalue()[:40]
        files["empty archive"] = b"PK\x05\x06" + bytes(18)
        for version in (b"\x02\x00", b"\x03\x00", b"\x04\x00", b"\x00\x00", b"\xff\xff"):
            text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
            files[f"version {version!r}"] = npy(text.encode(), body, version)
        files["long header"] = npy(b"{}" + b" " * 20_000, body)
        files["claimed header"] = CLAIM + body
        every = headers(dtype, shape)
        labels = rng.sample(sorted(every), 34)
        files |= {f"header {label}": npy(every[label], body) for label in labels}
        for label, data in files.items():
            yield f"{name} {label}", partial(edit, name=name, data=data)


def bombs(draft: Draft, rng: random.Random) -> Iterator[tuple[str, Edit]]:
    """Streams that inflate to much more than their counts say."""
    zeros = zlib.compress(bytes(4 << 20), 9)
    spaces = zlib.compress(b" " * (4 << 20), 9)
    lines = zlib.compress(b"\n" * (1 << 18), 9)
    for name in CONTAINERS:
        for label, data in (("zeros", zeros), ("spaces", spaces), ("lines", lines)):
            yield f"{name} {label}", lambda d, n=name, p=data: d.files.update({n: p})  # type: ignore[misc]
    whole = draft.shards()
    for number, (label, data) in itertools.product(
        range(len(whole)), (("zeros", zeros), ("spaces", spaces), ("lines", lines))
    ):
        changed = [*whole[:number], data, *whole[number + 1 :]]
        yield f"shard {number} {label}", partial(Draft.put_shards, shards=changed)
    for name in sorted(set(draft.files) - set(manifest_module.SHARED_FILES)):
        yield f"{name} header", lambda d, n=name: d.files.update({n: CLAIM})  # type: ignore[misc]
    del rng


KINDS: tuple[Kind, ...] = (
    flips, inner_flips, manifest_flips, lengths, manifest_edits, huge_counts, site_edits,
    line_edits, unsafe_urls, text_edits, column_edits, arrays, bombs,
)  # fmt: skip

# Those that are tried in every encoding; of the others each mutation is tried in one.
OF_VECTORS = (flips, lengths, arrays)


@dataclass
class Watch:
    """Record what is opened meanwhile, by the interpreter's own audit."""

    on: bool = False
    opened: list[str] = field(default_factory=list)

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.on and event == "open" and isinstance(args[0], str | bytes | Path):
            self.opened.append(os.fsdecode(args[0]))


@pytest.fixture(scope="session")
def watch() -> Watch:
    """A hook that stays for the rest of the process and looks only when it is told to."""
    watch = Watch()
    sys.addaudithook(watch)
    return watch


@dataclass
class Tally:
    """Count the outcomes of the mutations of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    peak: int = 0


class Bed:
    """A folder for each encoding in which one mutation after another is tried."""

    def __init__(self, folder: Path, watch: Watch) -> None:
        self.watch = watch
        pages = [
            record(
                f"p{n}",
                f"<h2 id=a>Rope {n}</h2><p>Rope {n} of hemp holds the boats. Is it new? "
                f"Chain {n} in the Harbour is strong enough:</p><pre>make {n}</pre>",
                tags=["hemp"] if n % 2 else ["harbour"],
                date="2024-05-01" if n % 3 else None,
            )
            for n in range(40)
        ]
        notes = [note(f"n{n}", f"rope of hemp {n}\n\nharbour") for n in range(5)]
        index = index_of(folder, pages, notes, LETTERS, names=("Harbour",))
        self.clean: dict[str, Draft] = {}
        self.folders: dict[str, Path] = {}
        contents = serialize_index(index, 16)
        manifest = write_bundle(contents, folder / "int8", IDENTITY, PROFILE, NOON)
        self.clean["int8"] = Draft(manifest.as_json(), dict(contents.files))
        self.folders["int8"] = folder / "int8"
        ask_everything(open_bundle(folder / "int8"))
        self._tallies: dict[str, Tally] = {}

    def tally(self, kind: Kind) -> Tally:
        """Count the outcomes of a kind of mutations, in each encoding or in one after another."""
        name = kind.__name__
        if name not in self._tallies:
            self._tallies[name] = tally = Tally()
            for turn, (encoding, clean) in enumerate(self.clean.items()):
                edits = kind(clean, random.Random(f"{name} {encoding}"))
                if kind not in OF_VECTORS:
                    edits = itertools.islice(edits, turn, None, len(self.clean))
                for label, edit in edits:
                    self._try(tally, encoding, label, edit)
        return self._tallies[name]

    def _try(self, tally: Tally, encoding: str, label: str, edit: Edit) -> None:
        folder, clean = self.folders[encoding], self.clean[encoding]
        draft = Draft(deepcopy(clean.manifest), dict(clean.files))
        edit(draft)
        with Written(folder, clean, draft):
            self.watch.opened.clear()
            before = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
            if tracemalloc.is_tracing():
                tracemalloc.reset_peak()
            self.watch.on = True
            try:
                outcome = served(folder, draft.verify)
            except BundleError as error:
                outcome = "refused"
                if complaint := unclear(str(error)):
                    tally.wrong.append(f"{encoding}: {label}: {complaint}: {error!s:.300}")
            except Exception as error:
                outcome = "wrong"
                tally.wrong.append(f"{encoding}: {label}: {type(error).__name__}: {error!s:.200}")
            finally:
                self.watch.on = False
            if tracemalloc.is_tracing():
                peak = tracemalloc.get_traced_memory()[1] - before
                if peak > SMALL:
                    tally.wrong.append(f"{encoding}: {label}: {peak >> 20} MB")
                tally.peak = max(tally.peak, peak)
            demand(
                str(folder / manifest_module.MANIFEST_FILE) in self.watch.opened,
                "nobody looks at what is opened",
            )
            if outcome == "opened" and draft.verify and not draft.signed:
                tally.wrong.append(f"{encoding}: {label}: opened although its hash is wrong")
            tally.outcomes[outcome] += 1
            outside = {path for path in map(Path, self.watch.opened) if not allowed(path, folder)}
            tally.wrong += [f"{encoding}: {label}: opened {path}" for path in sorted(outside)]


def allowed(path: Path, folder: Path) -> bool:
    """Test for a path in a folder, or code that Python imports when it has to."""
    installed = (sys.prefix, sys.base_prefix)
    return path.parent == folder or any(path.is_relative_to(root) for root in installed)


class Written:
    """A mutation's files in a folder, while it is tried; then the files as they were."""

    def __init__(self, folder: Path, clean: Draft, draft: Draft) -> None:
        names = {
            name: stored_file_name(name, file["sha256"])
            for name, file in clean.manifest["files"].items()
        }
        changed = {n for n, data in draft.files.items() if data != clean.files[n]}
        if draft.signed:
            signed(draft.manifest, draft.files, changed)
            listed = draft.manifest["files"] if changed else {}
            self.files: dict[Path, tuple[bytes, bytes | None]] = {
                folder / stored_file_name(n, listed[n]["sha256"]): (draft.files[n], None)
                for n in changed
            }
        else:
            self.files = {folder / names[n]: (draft.files[n], clean.files[n]) for n in changed}
        text = json.dumps(draft.manifest).encode() if draft.text is None else draft.text
        self.files[folder / manifest_module.MANIFEST_FILE] = (
            text,
            json.dumps(clean.manifest).encode(),
        )

    def __enter__(self) -> None:
        for path, (data, _) in self.files.items():
            # Never into a file that is mapped.
            path.unlink(missing_ok=True)
            path.write_bytes(data)

    def __exit__(self, *_: object) -> None:
        for path, (_new, before) in self.files.items():
            path.unlink()
            if before is not None:
                path.write_bytes(before)


def unclear(message: str) -> str | None:
    """Find what is wrong with the message of a refusal."""
    if not _REMEDY.search(message):
        return "no remedy"
    if len(message.splitlines()) != 1 or not message.isprintable():
        return "not one line"
    return f"{len(message)} characters" if len(message) > _SENTENCE else None


def served(folder: Path, verify: bool) -> str:
    """Open a bundle, read it, ask it and check all that comes out of it."""
    bundle = open_bundle(folder, verify=verify)
    try:
        ask_everything(bundle)
    except EmbedderError:
        return "of another embedder"
    return "opened"


class Harm(Exception):  # noqa: N818 - not an error of the package's
    """Something that a bundle must never give away."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Harm(what)


def ask_everything(bundle: Bundle) -> None:
    """Every passage and hint, and what a question finds, are harmless."""
    for passage in bundle.passages():
        texts = (passage.id, passage.record, passage.url, passage.title, passage.text)
        demand(all(type(text) is str for text in texts), "a passage has what is no text")
        demand(is_safe_url(passage.url), "a passage has an unsafe url")
        demand(passage.date is None or type(passage.date) is str, "a date is no text")
        offsets = [offset for span in passage.sentences for offset in span]
        demand(all(type(offset) is int for offset in offsets), "an offset is no whole number")
        size = len(passage.text)
        demand(all(0 <= a <= b <= size for a, b in passage.sentences), "a sentence is outside")
        check_structure(passage)
    for hint in bundle.hints:
        texts = (hint.id, hint.label, hint.locator, hint.url, hint.note)
        demand(all(type(text) is str for text in texts), "a hint has what is no text")
        demand(is_safe_url(hint.url), "a hint has an unsafe url")
    engine = Engine(bundle, LETTERS, ExtractiveAnswerer(bundle, LETTERS))
    check_scores(doubles.retrieve(bundle, QUESTION, VECTOR, near=8))
    reply = engine.answer(QUESTION, "en")
    demand(0 <= reply.confidence <= 1, "a confidence is beyond 1")
    body = serialize_answer(reply, bundle, "req")
    for citation in body["citations"]:
        demand(is_safe_url(citation["url"]), "a citation has an unsafe url")
    url = body["site_url"]
    demand(url is None or type(url) is str, "the site's url is no text")
    demand(url is None or is_safe_url(url), "the site's url is unsafe")
    demand(type(bundle.site.name) is str, "the site's name is no text")
    demand(type(bundle.site.language) is str, "the site's language is no text")
    json.dumps(body, allow_nan=False)


def check_structure(passage: Passage) -> None:
    """Blocks, spans and statements are ranges of the text, and a link leads to a safe url."""
    size, last = len(passage.text), 0
    for block in passage.blocks:
        demand(type(block.start) is int and type(block.end) is int, "an offset is no whole number")
        demand(last <= block.start < block.end <= size, "a block is outside or out of order")
        demand(block.kind in BLOCK_KINDS, "a block is of no kind")
        demand(0 <= block.level <= MAX_LEVEL, "a block is too deep to indent")
        demand(type(block.detail) is str and block.detail.isprintable(), "a detail is no word")
        last = block.end
    for span in passage.spans:
        demand(type(span.start) is int and type(span.end) is int, "an offset is no whole number")
        demand(0 <= span.start <= span.end <= size, "a span is outside")
        demand(span.kind in SPAN_KINDS, "a span is of no kind")
        demand(is_safe_url(span.url) if span.kind == "link" else not span.url, "an unsafe link")
    last = 0
    for statement in passage.statements:
        demand(last <= statement.start < statement.end <= size, "a statement is out of order")
        demand(0 <= statement.block < len(passage.blocks), "a statement is of no block")
        demand(all(type(each) is int for each in statement[1:]), "a count is no whole number")
        last = statement.end


def check_scores(result: RetrievalResult) -> None:
    """Every part of every score is a number."""
    passages, hints = (result.passages, result.near_passages), (result.hints, result.near_hints)
    scores: Iterator[Scored[Any]] = itertools.chain(*passages, *hints)
    for scored in scores:
        parts = (scored.score, scored.base, scored.lexical, scored.dense, scored.boost)
        demand(all(map(math.isfinite, parts)), "a score is not finite")


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, watch: Watch) -> Bed:
    return Bed(tmp_path_factory.mktemp("hostile"), watch)


MEASURED = (huge_counts, bombs)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_mutated_bundle_is_refused_with_a_remedy_or_harmless(bed: Bed, kind: Kind) -> None:
    """Nothing outside its folder is opened; claims and bombs take no memory."""
    if kind in MEASURED:
        tracemalloc.start()
    try:
        tally = bed.tally(kind)
    finally:
        tracemalloc.stop()
    assert not tally.wrong, f"{len(tally.wrong)} of {tally.outcomes}:\n" + "\n".join(tally.wrong)
    assert tally.outcomes["refused"]


def test_unmutated_bundle_answers(bed: Bed) -> None:
    for folder in bed.folders.values():
        bundle = open_bundle(folder)
        result = doubles.retrieve(bundle, QUESTION, VECTOR, near=8)
        assert result.passages
        assert result.hints
        reply = Engine(bundle, LETTERS, ExtractiveAnswerer(bundle, LETTERS)).answer(QUESTION)
        assert reply.answer.citations
        assert served(folder, verify=True) == "opened"


def test_there_are_enough_mutations(bed: Bed) -> None:
    total: Counter[str] = Counter()
    for kind in KINDS:
        total += bed.tally(kind).outcomes
    assert total.total() >= LEAST, f"{total.total()} mutations: {dict(total)}"


# Of files that deflate to a thousandth: 240 kB in all.
SWOLLEN = 48 * 1024 * 1024
STUFF = {"zeros": b"\0", "spaces": b" ", "lines": b"\n", "letters in lines": b"a\n"}


@pytest.mark.parametrize("stuff", STUFF)
@pytest.mark.parametrize(
    "names",
    [*((name,) for name in CONTAINERS), CONTAINERS],
    ids=lambda names: "all" if len(names) > 1 else names[0],
)
def test_hostile_bundle_is_refused_within_little_memory(
    bed: Bed, names: tuple[str, ...], stuff: str
) -> None:
    encoding = "int8"
    packed = zlib.compress(STUFF[stuff] * (SWOLLEN // len(STUFF[stuff])), 9)

    def edit(draft: Draft) -> None:
        for name in names:
            draft.files[name] = packed

    tally = Tally()
    tracemalloc.start()
    try:
        bed._try(tally, encoding, stuff, edit)
    finally:
        tracemalloc.stop()
    assert not tally.wrong
    assert tally.outcomes == {"refused": 1}
