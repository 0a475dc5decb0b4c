"""A bundle of any size, made up as it is read, so that a million passages need no memory for texts.

Vectors are about subjects, words follow Zipf's law, and each block of rows is drawn from a seed of
its own: whatever is read twice is drawn twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from answerable.indexing.stems import extract_stems
from answerable.serve.bundle_format import manifest
from answerable.serve.bundle_format.container import Container
from answerable.serve.bundle_format.manifest import (
    BUNDLE_FILES,
    LOCAL_PROFILE,
    BundleFile,
    Manifest,
    compute_bundle_id,
)
from answerable.serve.bundle_format.site_data import (
    LanguageRows,
    PhraseIndex,
    Postings,
    SiteMetadata,
)
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.stores.bundle import Bundle, HintColumns, PassageText, PassageTexts
from answerable.serve.structure import Block
from answerable.serve.vectors import Int8Codes

IDENTITY = EmbedderIdentity("generated", "subjects", 256)
# Anything is evidence, so that there are eight to be found.
PROFILE = replace(LOCAL_PROFILE, floor=0.05, note_floor=0.0)
# Distinct terms of a passage, of all of them, and passages of a page.
TERMS, VOCABULARY, PER_RECORD = 40, 30_000, 10
BLOCK = 4096
# Characters of a text.
LENGTH = 1000

_SUBJECTS = 4000
_SYLLABLES = [a + b for a in "bdfgklmnprtv" for b in ("a", "e", "i", "o", "u")]

Floats = NDArray[np.float32]


class Numbered(Sequence[str]):
    """Number texts that only differ by their numbers."""

    def __init__(self, form: str, count: int) -> None:
        self._form = form
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(self._count))]
        if not 0 <= row < self._count:
            # Iteration over a sequence ends with this.
            raise IndexError(row)
        return self._form.format(row)


class GeneratedTexts(PassageTexts):
    """Generate the texts of passages: nothing is judged by what they say."""

    def read_text(self, row: int) -> PassageText:
        return _text(row)


def _text(row: int) -> PassageText:
    start = 997 * row % (len(_prose()) - LENGTH)
    text = _prose()[start : start + LENGTH]
    whole = (Block("text", 0, LENGTH),)
    return PassageText(text, ((0, LENGTH),), whole, ())


@lru_cache(maxsize=1)
def _prose() -> str:
    """Draw a megabyte of words, of which each text is a part."""
    drawn = np.random.default_rng(13).integers(0, VOCABULARY, 110_000)
    return " ".join(words()[drawn].tolist())


@lru_cache(maxsize=1)
def words() -> NDArray[np.str_]:
    """Generate words that are their own stems, the most common first."""
    chance = np.random.default_rng(5)
    unique_words: dict[str, None] = {}
    while len(unique_words) < VOCABULARY:
        for drawn in chance.integers(0, len(_SYLLABLES), (VOCABULARY, 4)):
            word = "".join(_SYLLABLES[at] for at in drawn) + "k"
            if extract_stems(word, "en") == [word]:
                unique_words[word] = None
    return np.array(list(unique_words)[:VOCABULARY])


@lru_cache(maxsize=4)
def terms_of(block: int) -> NDArray[np.int64]:
    """Draw the terms of a block's passages, (BLOCK, TERMS), each once in a row."""
    chance = np.random.default_rng([11, block])
    # Zipf's law by its distribution function, in equal shares: each is of a higher rank.
    shares = (np.arange(TERMS) + chance.random((BLOCK, TERMS))) / TERMS
    ranks = np.exp(shares * np.log(VOCABULARY - TERMS)).astype(np.int64) - 1
    terms: NDArray[np.int64] = ranks + np.arange(TERMS)
    return terms


def vectors(block: int, seed: int) -> Floats:
    """Draw the unit vectors of a block, (BLOCK, d)."""
    chance = np.random.default_rng([seed, block])
    rows = chance.standard_normal((BLOCK, IDENTITY.dimensions), dtype=np.float32)
    rows += _subjects()[chance.integers(0, _SUBJECTS, BLOCK)]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@lru_cache(maxsize=1)
def _subjects() -> Floats:
    chance = np.random.default_rng(3)
    return chance.standard_normal((_SUBJECTS, IDENTITY.dimensions), dtype=np.float32)


def bundle(passages: int, hints: int, folder: Path) -> Bundle:
    """Make a bundle whose arrays lie in files of a folder and whose texts are stored nowhere."""
    records = -(-passages // PER_RECORD)
    postings = _postings(passages, folder)
    listed = Numbered("page number {}", records)
    edges = np.arange(records + 1, dtype=np.uint32)
    rows = np.arange(records, dtype=np.uint32)
    ones = np.ones(records, np.uint32)
    names = PhraseIndex({name: row for row, name in enumerate(listed)}, edges, rows, ones)
    none = replace(names, rows={})
    counts = {
        "records": records, "passages": passages, "hints": hints, "windows": hints,
        "terms": len(postings.terms), "words": 0, "questions": 0,
    }  # fmt: skip
    return Bundle(
        manifest=_manifest(counts),
        site=SiteMetadata("Generated", None, "en", frozenset({"LATIN"}), "See {label}.",
                  (LanguageRows("en", 0, passages),), (), None),
        record_ids=Numbered("page-{}", records),
        record_summaries=Numbered("Summary {}", records),
        record_themes=[[f"theme {record}"] for record in range(records)],
        weights=np.ones(records, np.float32),
        dates=(None,) * records,
        names=names,
        title_norms=np.zeros(records, np.float32),
        is_history=np.zeros(records, np.bool_),
        aliases=none,
        themes=none,
        title_terms=none,
        label_terms=PhraseIndex({}, edges[:1], rows[:0], ones[:0]),
        passage_ids=_Ids("", passages),
        passage_urls=Numbered("/page/{}/", passages),
        passage_titles=Numbered("Page number {}", passages),
        passage_records=(np.arange(passages, dtype=np.uint32) // PER_RECORD).astype(np.uint32),
        passage_codes=_codes(passages, folder / "passages", 1),
        texts=GeneratedTexts((), 0, lambda _: Container({})),
        postings=postings,
        forms={"en": dict.fromkeys(postings.terms, "")},
        lengths=postings.lengths,
        words=(),
        question_terms=PhraseIndex({}, edges[:1], rows[:0], ones[:0]),
        question_norms=np.zeros(0),
        question_keys=rows[:0],
        question_passages=rows[:0],
        answers={},
        questions=(),
        passage_sections=np.arange(passages, dtype=np.uint32),
        hints=HintColumns(*(Numbered(form, hints) for form in
                      ("note:{:010x}", "Label {}", "shelf {}", "/shelf/{}/"))),
        hint_codes=_codes(hints, folder / "hints", 2),
        hint_owners=np.arange(hints, dtype=np.uint32),
    )  # fmt: skip


class _Ids(Numbered):
    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return super().__getitem__(row)
        return f"page-{row // PER_RECORD}#part-{row}"


def questions(generated: Bundle, count: int) -> Iterator[tuple[str, Floats]]:
    """Draw questions with some of a passage's words, and vectors near its own."""
    chance = np.random.default_rng(7)
    total = generated.manifest.counts["passages"]
    for row in chance.integers(0, total, count).tolist():
        terms = terms_of(row // BLOCK)[row % BLOCK]
        question_terms = chance.choice(terms, 5, replace=False)
        noise = chance.standard_normal(IDENTITY.dimensions, dtype=np.float32)
        noise /= np.linalg.norm(noise)
        near = vectors(row // BLOCK, 1)[row % BLOCK] + noise
        unit = (near / np.linalg.norm(near)).astype(np.float32)
        yield " ".join(words()[question_terms]), unit


def _codes(count: int, path: Path, seed: int) -> Int8Codes:
    dimensions = IDENTITY.dimensions
    shape = (max(count, 1), dimensions)
    codes = np.memmap(path.with_suffix(".codes"), np.int8, "w+", shape=shape)
    norms = np.zeros(count, np.float32)
    for block in range(-(-count // BLOCK)):
        rows = vectors(block, seed)[: count - block * BLOCK]
        whole = np.rint(rows * (127 / np.abs(rows).max(axis=1, keepdims=True))).astype(np.int8)
        first = block * BLOCK
        codes[first : first + len(rows)] = whole
        lengths = np.linalg.norm(whole.astype(np.float32), axis=1)
        norms[first : first + len(rows)] = 1 / lengths
    return Int8Codes(codes[:count], norms)


def _postings(passages: int, folder: Path) -> Postings:
    """Count terms in one pass and put them into their places in another."""
    sizes = np.zeros(VOCABULARY, np.int64)
    blocks = range(-(-passages // BLOCK))
    for block in blocks:
        terms = terms_of(block)[: passages - block * BLOCK]
        sizes += np.bincount(terms.ravel(), minlength=VOCABULARY)
    edges = np.concatenate([[0], np.cumsum(sizes)])
    total = int(edges[-1])
    rows = np.memmap(folder / "rows", np.uint32, "w+", shape=(max(total, 1),))
    counts = np.memmap(folder / "counts", np.uint16, "w+", shape=(max(total, 1),))
    ends = edges[:-1].copy()
    for block in blocks:
        terms = terms_of(block)[: passages - block * BLOCK]
        flat = terms.ravel()
        order = np.argsort(flat, kind="stable")
        sorted_terms = flat[order]
        starts = np.searchsorted(sorted_terms, sorted_terms)
        places = ends[sorted_terms] + np.arange(len(order)) - starts
        rows[places] = (block * BLOCK + order // TERMS).astype(np.uint32)
        counts[places] = 1 + (order % 3).astype(np.uint16)
        ends += np.bincount(flat, minlength=VOCABULARY)
    return Postings(
        terms={str(word): place for place, word in enumerate(words())},
        edges=edges.astype(np.uint32),
        passages=rows[:total],
        counts=counts[:total],
        lengths=np.full(passages, 2 * TERMS, np.uint32),
    )


def _manifest(counts: dict[str, int]) -> Manifest:
    files = {name: BundleFile(0, f"{len(name):064x}") for name in BUNDLE_FILES}
    files[manifest.COLUMNS_FILE] = BundleFile(counts["passages"], f"{counts['hints']:064x}")
    return Manifest(
        id=compute_bundle_id(IDENTITY, PROFILE, IDENTITY.dimensions, files),
        built_at="2024-01-01T00:00:00Z",
        generator="generated",
        identity=IDENTITY,
        profile=PROFILE,
        dimensions=IDENTITY.dimensions,
        counts=counts,
        files=files,
    )
