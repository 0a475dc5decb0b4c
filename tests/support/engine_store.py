"""Give the engine in Node the store of an opened bundle, without the files of the index."""

import base64
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from answerable.indexing.browser_index.recipe import collect_recipe
from answerable.serve.bundle_format.postings import PhraseIndex
from answerable.serve.retrieval.section_scores import read_passage_terms
from answerable.serve.retrieval.selection import count_context_characters
from answerable.serve.stores.bundle import Bundle
from answerable.serve.text.tokenization import count_words
from support.engine_process import ENGINE, engine

_MODULE = os.path.relpath(Path(__file__).with_name("engine_store"), ENGINE)


def open_engine_store(bundle: Bundle, name: str) -> dict[str, str]:
    """Make the store of a bundle in the engine's process; the reference to it under a name."""
    engine().call(_MODULE, "makeStore", _describe(bundle), save=name)
    return {"$": name}


def load_postings(store: dict[str, str], terms: Iterable[str]) -> None:
    """Load the postings that the next calls of synchronous functions read."""
    engine().call(_MODULE, "loadPostings", store, list(terms))


def _describe(bundle: Bundle) -> dict[str, Any]:
    passages = list(bundle.passages())
    in_text = _mark_terms_in_text(bundle)
    rows = np.arange(len(passages))
    return {
        "manifest": {
            "id": bundle.manifest.id,
            "profile": bundle.manifest.profile.as_json(),
            "dimensions": bundle.manifest.encoding.dimensions,
        },
        "rawRecipe": collect_recipe(bundle.site),
        "site": {
            "name": bundle.site.name,
            "language": bundle.site.language,
            "names": bundle.site.names,
            "scripts": sorted(bundle.site.scripts),
            "tags": bundle.site.tags,
            "languages": [
                {"tag": each.tag, "first": each.first, "end": each.end}
                for each in bundle.site.languages
            ],
        },
        "dates": bundle.dates,
        "columns": {
            "weights": _pack(bundle.weights, "<f4"),
            "titleNorms": _pack(bundle.title_norms, "<f4"),
            "isHistory": _pack(bundle.is_history, "|u1"),
            "passageRecords": _pack(bundle.passage_records, "<u4"),
            "passageLengths": _pack(bundle.postings.lengths, "<u4"),
            "contextLengths": _pack(_count_contexts(bundle), "<u4"),
            "isShort": _pack([_is_short(each) for each in passages], "|u1"),
            "hasCode": _pack(
                [any(block.kind == "code" for block in each.blocks) for each in passages], "|u1"
            ),
            "codes": _pack(bundle.passage_codes.decode_rows(rows), "|i1"),
            "inverseNorms": _pack(bundle.passage_codes.inverse_norms, "<f4"),
            "edges": _pack(bundle.postings.edges, "<u4"),
            "holders": _pack(bundle.postings.passages, "<u4"),
            "counts": _pack(bundle.postings.counts, "<u4"),
            "inText": _pack(in_text, "|u1"),
        },
        "terms": bundle.postings.terms,
        "phrases": {
            "names": _list_phrases(bundle.names),
            "aliases": _list_phrases(bundle.aliases),
            "themes": _list_phrases(bundle.themes),
            "titleTerms": _list_phrases(bundle.title_terms),
        },
        "passages": [
            {"id": each.id, "record": each.record, "title": each.title, "text": each.text}
            for each in passages
        ],
        "words": list(bundle.words),
    }


def _pack(values: Iterable[Any] | NDArray[Any], dtype: str) -> list[Any]:
    array = np.asarray(values).astype(dtype)
    return [dtype, {"$bytes": base64.b64encode(array.tobytes()).decode()}]


def _mark_terms_in_text(bundle: Bundle) -> list[bool]:
    edges, holders = bundle.postings.edges.tolist(), bundle.postings.passages.tolist()
    own = [read_passage_terms.__wrapped__(each) for each in bundle.passages()]
    return [
        term in own[row]
        for term, index in bundle.postings.terms.items()
        for row in holders[edges[index] : edges[index + 1]]
    ]


def _is_short(passage: Any) -> bool:
    plain = all(block.kind in ("text", "label") for block in passage.blocks)
    return plain and count_words(passage.text) < 30


def _count_contexts(bundle: Bundle) -> list[int]:
    counts = dict.fromkeys(bundle.record_ids, 0)
    counts |= {each.record: count_context_characters(each) for each in bundle.passages()}
    return [counts[record] for record in bundle.record_ids]


def _list_phrases(index: PhraseIndex) -> list[Any]:
    return [
        [entry.phrase, {"records": list(entry.records), "frequency": entry.frequency}]
        for entry in index
    ]
