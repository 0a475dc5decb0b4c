"""Edit one passage of an opened bundle in memory, or add one, to forecast what a build would do."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.postings import Postings
from ...serve.bundle_format.site_metadata import LanguageRows
from ...serve.stores.bundle import Bundle, PassageText, PassageTexts
from ...serve.vectors.encodings import Codes
from ...serve.vectors.scalar_codes import Floats, Rows


@dataclass(frozen=True, slots=True, eq=False)
class PassageEdit:
    """Hold one passage in its new state, and the row that it has then.

    ``is_new``: it is inserted before the passage of that row; otherwise it replaces it.
    ``added_terms``: how often each term is added to what the row's postings hold (of a new row:
    nothing). ``vector``: (dimensions of the codes,), of length 1.
    """

    row: int
    is_new: bool
    text: PassageText
    title: str
    url: str
    added_terms: Mapping[str, int]
    vector: Floats


def apply_edit(bundle: Bundle, edit: PassageEdit, record: int) -> Bundle:
    """Copy a bundle with one passage of a record changed or added; files stay as they are."""
    ids, urls, titles = bundle.passage_ids, bundle.passage_urls, bundle.passage_titles
    postings = bundle.postings
    records = bundle.passage_records
    site = bundle.site
    start, end = edit.row, edit.row + (not edit.is_new)
    if edit.is_new:
        postings = insert_row(postings, edit.row)
        records = np.insert(records, edit.row, np.uint32(record))
        languages = tuple(_shift_language(each, edit.row) for each in site.languages)
        site = replace(site, languages=languages)
    return replace(
        bundle,
        site=site,
        postings=add_terms(postings, edit.row, edit.added_terms),
        passage_records=records,
        passage_ids=[*ids[:start], edit.text.id, *ids[end:]],
        passage_urls=[*urls[:start], edit.url, *urls[end:]],
        passage_titles=[*titles[:start], edit.title, *titles[end:]],
        passage_codes=EditedCodes(bundle.passage_codes, edit.row, edit.is_new, edit.vector),
        texts=EditedTexts(bundle.texts, edit),
    )


def insert_row(postings: Postings, row: int) -> Postings:
    """Insert a passage without terms before a row."""
    passages = postings.passages
    return replace(
        postings,
        passages=np.where(passages >= row, passages + 1, passages).astype(np.uint32),
        lengths=np.insert(postings.lengths, row, 0),
    )


def add_terms(postings: Postings, row: int, added: Mapping[str, int]) -> Postings:
    """Add terms to the postings of one passage, as often as each occurs in what is added."""
    terms = dict(postings.terms)
    for term in added:
        terms.setdefault(term, len(terms))
    old_owners = np.repeat(np.arange(len(postings.edges) - 1), np.diff(postings.edges))
    owners = np.concatenate([old_owners, [terms[term] for term in added]]).astype(np.int64)
    rows = np.full(len(added), row, dtype=np.uint32)
    passages = np.concatenate([postings.passages, rows])
    counts = np.concatenate([postings.counts, np.array(list(added.values()), dtype=np.uint16)])
    order = np.lexsort((passages, owners))
    owners, passages, counts = owners[order], passages[order], counts[order]
    # A term that the passage held already is listed twice now: its counts are one.
    is_first = np.ones(len(owners), dtype=np.bool_)
    is_first[1:] = (owners[1:] != owners[:-1]) | (passages[1:] != passages[:-1])
    starts = np.flatnonzero(is_first)
    sums = np.add.reduceat(counts, starts) if len(starts) else counts
    edges = np.searchsorted(owners[starts], np.arange(len(terms) + 1))
    lengths = postings.lengths.copy()
    lengths[row] += sum(added.values())
    return replace(
        postings,
        terms=terms,
        edges=edges.astype(np.uint32),
        passages=passages[starts],
        counts=sums.astype(np.uint16),
        lengths=lengths,
    )


class EditedTexts(PassageTexts):
    """Read the texts of passages, of which one is edited or added."""

    def __init__(self, texts: PassageTexts, edit: PassageEdit) -> None:
        super().__init__(texts.edges, texts.data)
        self._texts = texts
        self._edit = edit

    def read_text(self, row: int, passage_id: str) -> PassageText:
        """Return the text of a row of the edited bundle."""
        if row == self._edit.row:
            return self._edit.text
        is_shifted = self._edit.is_new and row > self._edit.row
        return self._texts.read_text(row - is_shifted, passage_id)


@dataclass(frozen=True, slots=True, eq=False)
class EditedCodes:
    """Score rows of codes, of which one is a vector of length 1 in full precision."""

    codes: Codes
    row: int
    is_new: bool
    vector: Floats

    @property
    def pool(self) -> int:
        """Count the best estimates that are worth scoring."""
        return self.codes.pool

    @property
    def inverse_norms(self) -> Floats:
        """Return 1 / the length of each row's codes, (n,)."""
        return self._put(self.codes.inverse_norms, np.float32(1))

    def __len__(self) -> int:
        return len(self.codes) + self.is_new

    def slack(self, query: Floats) -> float:
        """Bound how far an estimate lies under its score."""
        return self.codes.slack(query)

    def estimate(self, query: Floats) -> Floats:
        """Estimate the cosine of the query with every row, (n,)."""
        return self._put(self.codes.estimate(query), np.float32(self.vector @ query))

    def decode_rows(self, rows: Rows | slice) -> Floats:
        """Decode some rows, (k, dimensions)."""
        places = np.arange(len(self))[rows]
        is_edited = places == self.row
        shifted = places - (places > self.row) if self.is_new else places
        decoded = self.codes.decode_rows(np.minimum(shifted, len(self.codes) - 1)).copy()
        decoded[is_edited] = self.vector
        return decoded

    def _put(self, values: Floats, value: np.float32) -> Floats:
        changed: NDArray[np.float32]
        if self.is_new:
            changed = np.insert(values, self.row, value)
        else:
            changed = np.array(values, dtype=np.float32)
            changed[self.row] = value
        return changed


def _shift_language(rows: LanguageRows, row: int) -> LanguageRows:
    """Move the rows of a language for one inserted before a row, which belongs to its neighbor.

    The new passage stands after another one of its page, so that ``row - 1`` has its language.
    """
    return LanguageRows(rows.tag, rows.first + (rows.first >= row), rows.end + (rows.end >= row))
