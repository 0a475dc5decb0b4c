"""A bundle that a broken disk or an attacker changed is refused in a sentence, or is harmless."""

import json
import pickle
import re
import shutil
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from answerable.engine.answers.keyless import ExtractiveAnswerer
from answerable.engine.answers.wire import serialize_answer
from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.engine import Engine
from answerable.engine.errors import BundleError, EmbedderError
from answerable.engine.index.format import pack_container, parse_content
from answerable.engine.index.manifest import MANIFEST_FILE, Profile
from answerable.engine.text.markdown import parse_blocks
from answerable.engine.text.urls import is_safe_url
from support.doubles import bundle_of, index_of, note, record
from support.forged_bundles import edit_manifest, find_stored, forge, forge_columns
from support.scripted import LetterEmbedder

QUESTION = "Is the latest rope of hemp in the harbour strong enough to hold?"
SCRIPT = "javascript:alert(1)"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    pages = [
        record(
            f"p{n}",
            f"<h2 id=a>Rope {n}</h2><p>Rope {n} of hemp holds the boats. <a href='/p1/'>New</a>? "
            f"Chain {n} in the harbour is strong enough:</p><pre><code>make {n}</code></pre>",
            tags=["hemp"] if n % 2 else ["harbour"],
            date="2024-05-01" if n % 3 else None,
        )
        for n in range(40)
    ]
    notes = [note(f"n{n}", f"rope of hemp {n}\n\nharbour") for n in range(5)]
    bundle_of(folder, index_of(folder, pages, notes), Profile(floor=0.05, note_floor=0.05))
    return folder / "bundle"


@pytest.fixture
def folder(clean: Path, tmp_path: Path) -> Path:
    return shutil.copytree(clean, tmp_path / "bundle")


def turn_last_bit(folder: Path) -> None:
    path = find_stored(folder, "core")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda f: (f / MANIFEST_FILE).unlink(), "does not exist"),
    "no JSON": (lambda f: (f / MANIFEST_FILE).write_bytes(b"[" * 100_000), "cannot be read"),
    "a wrong hash": (turn_last_bit, "does not match its hash"),
    "a wrong size": (
        lambda f: find_stored(f, "codes").write_bytes(b"x"), "has 1 bytes, its manifest says"
    ),
    "a missing file": (lambda f: find_stored(f, "texts").unlink(), "is missing"),
    "an unknown wire version": (
        lambda f: edit_manifest(f, lambda data: data.update(wire=4)), "is not wire version"
    ),
    "another id": (
        lambda f: edit_manifest(f, lambda data: data.update(id="0" * 64)), "id does not match"
    ),
    "a floor that is no number": (
        lambda f: edit_manifest(f, lambda data: data["profile"].update(floor=float("nan"))),
        "malformed",
    ),
    "a count that no data bears out": (
        lambda f: edit_manifest(f, lambda data: data["counts"].update(passages=10**9)),
        "malformed",
    ),
    "an unsafe url of a page": (
        lambda f: forge_columns(f, "core", record_urls=["/"] * 39 + [SCRIPT]), "the unsafe url"
    ),
    "an unsafe url of a hint": (
        lambda f: forge_columns(f, "hints", hint_urls=["/"] * 4 + ["//evil.example/"]),
        "the unsafe url",
    ),
    "a pickle for vectors": (lambda f: forge(f, "codes", pickle.dumps(print), 0), "malformed"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_bundle_is_refused_before_the_first_question(folder: Path, damage: str) -> None:
    change, complaint = DAMAGES[damage]
    change(folder)
    with pytest.raises(BundleError, match=f"{complaint}.*build"):
        open_bundle(folder)


class Draft(NamedTuple):
    """A bundle in memory, where its manifest need not agree with the parts of its files."""

    manifest: dict[str, Any]
    files: dict[str, list[bytes]]


NASTY: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**64, 10**400, 1.5, 1e308, float("nan"), float("inf"), "", "x",
    "\ud800", "\x00", "\u2028", "é" * 300, "../x", SCRIPT, "//evil.example/", "/a b", "<script>",
    [], [[]], [None], {}, {"a": 1}, [0] * 40, ["a"] * 40, json.loads("[" * 200 + "]" * 200),
)  # fmt: skip


def list_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """List the container and the key of every value in a JSON value."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from list_places(inner)


def damage_json(value: Any, random: Random) -> None:
    """Replace, remove or repeat one value somewhere in a JSON value."""
    parent, key = random.choice(list(list_places(value)))
    if random.random() < 0.2:
        del parent[key]
    elif isinstance(parent[key], list) and random.random() < 0.4:
        rows = parent[key]
        parent[key] = random.choice([rows[1:], rows[::-1], rows * 2, rows[:1] * len(rows), []])
    else:
        parent[key] = deepcopy(random.choice(NASTY))


def damage_bytes(data: bytes, random: Random) -> bytes:
    """Turn a bit, mostly of the header, or cut or lengthen the whole."""
    at = random.randrange(random.choice([len(data), min(len(data), 128)]))
    turned = data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
    return random.choice([turned, turned, turned, data[:at], data + b"\0", data * 2])


def damage_manifest(draft: Draft, random: Random) -> None:
    damage_json(draft.manifest, random)


def damage_file(draft: Draft, random: Random) -> None:
    """Damage the bytes of a part of a file, or what they decompress to."""
    parts = draft.files[random.choice(sorted(draft.files))]
    place = random.randrange(len(parts))
    if random.random() < 0.7:
        plain = damage_bytes(read_content(parts[place]), random)
        parts[place] = zlib.compress(plain, 1)
    else:
        parts[place] = damage_bytes(parts[place], random)


def damage_values(draft: Draft, random: Random) -> None:
    """Damage a value of a file, such as a url or the text of a passage."""
    parts = draft.files[random.choice(sorted(draft.files))]
    place = random.randrange(len(parts))
    whole = parse_content(read_content(parts[place]), "a part")
    if whole.values:
        damage_json(whole.values, random)
        parts[place] = pack_container(whole)


def split_parts(path: Path, parts: list[Any]) -> list[bytes]:
    with path.open("rb") as file:
        return [file.read(size) for _, size, _ in parts]


def read_content(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        # Vectors are not compressed.
        return data


def ask_everything(bundle: Bundle) -> None:
    """Check that every passage and hint, and what a question finds, can do no harm."""
    for passage in bundle.passages():
        assert is_safe_url(passage.url)
        spans = [span for block in parse_blocks(passage.markdown) for span in block.spans]
        assert all(is_safe_url(span.url) for span in spans if span.kind == "link")
    assert all(is_safe_url(hint.url) for hint in bundle.hints)
    reply = Engine(bundle, LetterEmbedder(), ExtractiveAnswerer()).answer(QUESTION, "en")
    body = serialize_answer(reply, bundle)
    json.dumps(body, allow_nan=False)
    assert all(is_safe_url(citation["url"]) for citation in body["citations"])


def open_draft(folder: Path, draft: Draft) -> Bundle:
    """Write a draft to a folder, its sizes made to agree, and open it as if its hashes did."""
    listed = draft.manifest.get("packs")
    for pack in listed if isinstance(listed, list) else ():
        is_whole = isinstance(pack, list) and len(pack) == 2 and isinstance(pack[0], str)
        rows = pack[1] if is_whole and isinstance(pack[1], list) else []
        for row, data in zip(rows, draft.files.get(pack[0], []) if rows else [], strict=False):
            if isinstance(row, list) and len(row) == 3:
                row[1:] = [len(data), len(read_content(data)) if row[2] else 0]
    for name, parts in draft.files.items():
        (folder / name).write_bytes(b"".join(parts))
    (folder / MANIFEST_FILE).write_text(json.dumps(draft.manifest), "utf-8")
    return open_bundle(folder, verify=False)


@pytest.mark.deep
@pytest.mark.parametrize("damage", [damage_manifest, damage_file, damage_values])
def test_any_damage_is_refused_with_a_remedy_or_harmless(
    clean: Path, tmp_path: Path, damage: Callable[[Draft, Random], None]
) -> None:
    manifest = json.loads((clean / MANIFEST_FILE).read_bytes())
    files = {name: split_parts(clean / name, parts) for name, parts in manifest["packs"]}
    ask_everything(open_draft(tmp_path, Draft(deepcopy(manifest), deepcopy(files))))
    refusals: list[str] = []
    for seed in range(300):
        draft = Draft(deepcopy(manifest), deepcopy(files))
        damage(draft, Random(seed))
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        try:
            ask_everything(open_draft(tmp_path, draft))
        except EmbedderError:
            continue
        except BundleError as error:
            refusals.append(str(error))
        except Exception as error:
            raise AssertionError(f"{damage.__name__} {seed}: {error!r:.300}") from error
    assert refusals
    assert all(message.isprintable() and len(message) < 1000 for message in refusals)
    assert all(re.search("build` again|build again", message) for message in refusals)


def test_a_small_file_that_inflates_takes_little_memory(folder: Path) -> None:
    forge(folder, "core", zlib.compress(b"a\n" * (24 * 2**20), 9), 1000)
    tracemalloc.start()
    with pytest.raises(BundleError):
        open_bundle(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20
