"""Serialize an opened bundle of a site without notes into the files of the browser's index."""

from pathlib import Path

from answerable.indexing.browser_index.index_files import (
    AddressedFiles,
    PublicIndex,
    PublicPhrases,
    PublicRecord,
    serialize_browser_index,
)
from answerable.indexing.browser_index.staged_index import make_statement_quantizer
from answerable.indexing.index import Lexicon
from answerable.serve.embedders.embedder import Embedder
from answerable.serve.retrieval.selection import count_context_characters
from answerable.serve.stores.bundle import Bundle


def read_public_index(bundle: Bundle) -> PublicIndex:
    """Read the public index of a bundle, whose int8 codes stand for its vectors."""
    passages = tuple(bundle.passages())
    rows = bundle.passage_records.tolist()
    urls = {row: each.url.partition("#")[0] for each, row in zip(passages, rows, strict=True)}
    contexts = {
        row: count_context_characters(each) for each, row in zip(passages, rows, strict=True)
    }
    postings = bundle.postings
    phrases = (bundle.names, bundle.aliases, bundle.themes, bundle.title_terms)
    return PublicIndex(
        site=bundle.site,
        profile=bundle.manifest.profile,
        records=tuple(
            PublicRecord(
                name,
                urls.get(row, "/"),
                float(weight),
                date,
                float(norm),
                bool(history),
                contexts.get(row, 0),
            )
            for row, (name, weight, date, norm, history) in enumerate(
                zip(
                    bundle.record_ids,
                    bundle.weights,
                    bundle.dates,
                    bundle.title_norms,
                    bundle.is_history,
                    strict=True,
                )
            )
        ),
        phrases=PublicPhrases(*(tuple(table) for table in phrases)),
        passages=passages,
        passage_records=tuple(rows),
        passage_vectors=bundle.passage_codes.decode_rows(slice(None)),
        lexicon=Lexicon(
            tuple(postings.terms),
            postings.edges,
            postings.passages,
            postings.counts,
            postings.lengths,
        ),
        words=tuple(bundle.words),
    )


def serialize_bundle(
    bundle: Bundle, embedder: Embedder, model: str = "model/none"
) -> AddressedFiles:
    """Serialize a bundle into the files of the browser's index."""
    quantize = make_statement_quantizer(embedder)
    index = serialize_browser_index(read_public_index(bundle), quantize, bundle.manifest.id, model)
    return index.complete(bundle.manifest.built_at)


def write_files(files: AddressedFiles, folder: Path) -> Path:
    """Write files below a folder and return the path of theirs."""
    for name, data in files.files.items():
        path = folder / files.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / files.folder
