"""Propose the sentence that a page lacks for a question, in the question's own words."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...serve.embedders.embedder import Embedder
from ...serve.provider_registry import embeds_in_process
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle, PassageText
from ...serve.structure import TITLE_SEPARATOR, Block
from ...serve.text.tokenization import extract_terms
from .candidates import QuestionContext
from .edited_bundle import PassageEdit, apply_edit
from .question_words import list_missing_words

# Stands in a proposed sentence for what only the author knows.
FACT = "…"
# A longer question is not put into one sentence: its best sentence is.
MAX_LEAD_WORDS = 30
# Not after "e.g." and other abbreviations of single letters.
_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.][.!?])\s+|(?<=\s[!?])\s+|(?<=[。！？])\s*")
_EDGES = " \t?!.,:;…。！？"


@dataclass(frozen=True, slots=True)
class PageEdit:
    """Hold a sentence to write on a page, ``…`` standing for the fact that only the author knows.

    ``section``: the id of the passage under whose heading it goes; ``under``: the titles of the
    page and its headings, the nearest last. ``heading``: a new heading to write at the end of that
    section, with the sentence under it; "" where the sentence goes directly under the section's.
    """

    page: str
    section: str
    under: tuple[str, ...]
    heading: str
    sentence: str


def list_edits(context: QuestionContext, row: int, words: int) -> Iterator[PageEdit]:
    """Yield sentences for the section of a passage, the shortest and simplest first.

    row: of the passage. words: how many content words a sentence needs at least.
    """
    bundle = context.bundle
    first = find_section_rows(bundle, row)[0]
    under = tuple(bundle.passage_titles[first].split(TITLE_SEPARATOR))
    page = bundle.record_ids[int(bundle.passage_records[first])]
    for lead in list_leads(context, first, words):
        for heading in ("", lead):
            section = bundle.passage_ids[first]
            yield PageEdit(page, section, under, heading, f"{lead}: {FACT}")


def list_leads(context: QuestionContext, row: int, words: int = 1) -> tuple[str, ...]:
    """List what a sentence on a passage's page could begin with: words in the question's order.

    First the sentence of the question that has most in common with the page, then all of it; both
    without the frame of the question and the stopwords before the first content word.
    """
    language = context.bundle.site.language_of(row)
    weights = _weigh_terms(context, row, language)

    def weigh(sentence: str) -> float:
        return sum(weights.get(term, 0.0) for term in set(extract_terms(sentence, language)))

    sentences = [each for each in _SENTENCE_END.split(context.reading.text) if each.strip(_EDGES)]
    joined = " ".join(sentence.strip(_EDGES) for sentence in sentences)
    leads = [_trim(text, language) for text in (max(sentences, key=weigh), joined)]
    long_enough = [lead for lead in leads if len(set(extract_terms(lead, language))) >= words]
    return tuple(dict.fromkeys(long_enough or leads))


def _weigh_terms(context: QuestionContext, row: int, language: str) -> dict[str, float]:
    """Weigh the question's terms that a passage's page holds; all of them if it holds none."""
    records = context.bundle.passage_records
    page = np.flatnonzero(records == records[row])
    own = [word for word in context.words if word.language == language]
    absent = [{w.term for w in list_missing_words(context.bundle, own, int(r))} for r in page]
    on_page = [word for word in own if not all(word.term in missing for missing in absent)]
    return {word.term: word.share for word in on_page or own}


def _trim(sentence: str, language: str) -> str:
    """Trim a question's sentence to what begins with a content word; it opens with a capital."""
    tokens = sentence.split()
    while len(tokens) > 1 and not extract_terms(tokens[0], language):
        tokens.pop(0)
    text = " ".join(tokens[:MAX_LEAD_WORDS]).strip(_EDGES)
    return text[:1].upper() + text[1:]


def apply_page_edit(bundle: Bundle, embedder: Embedder, edit: PageEdit) -> tuple[Bundle, int]:
    """Copy a bundle as if a page had the proposed sentence; return it and the passage's row.

    The heading stands for the fact, which nobody knows yet. A remote embedder is not asked: the
    passage keeps the vector of its section.
    """
    first, last = find_section_rows(bundle, list(bundle.passage_ids).index(edit.section))
    sentence = edit.sentence.replace(FACT, f"{edit.under[-1]}.")
    passage = bundle.passage(first)
    # A passage is found by its headings line by line.
    headings = "\n".join(edit.under)
    old = f"{headings}\n{passage.text}"
    url = bundle.passage_urls[first]
    if edit.heading:
        title = TITLE_SEPARATOR.join((*edit.under, edit.heading))
        name = f"{edit.page}#{'-'.join(edit.heading.lower().split())}"
        text = _make_text(name, sentence)
        new = f"{headings}\n{edit.heading}\n{sentence}"
        vector = embed_like(bundle, embedder, first, old, new, is_new=True)
        added = Counter(extract_terms(new, passage.language))
        page_url = url.partition("#")[0]
        passage_edit = PassageEdit(
            last + 1, True, text, title, f"{page_url}#{name.partition('#')[2]}", added, vector
        )
    else:
        text = _prepend(bundle.texts.read_text(first, passage.id), sentence)
        vector = embed_like(bundle, embedder, first, old, f"{headings}\n{text.text}")
        added = Counter(extract_terms(sentence, passage.language))
        passage_edit = PassageEdit(
            first, False, text, bundle.passage_titles[first], url, added, vector
        )
    record = int(bundle.passage_records[first])
    return apply_edit(bundle, passage_edit, record), passage_edit.row


def find_section_rows(bundle: Bundle, row: int) -> tuple[int, int]:
    """Find the first and the last row of the section that a passage is a window of."""
    urls, records = bundle.passage_urls, bundle.passage_records
    first = last = row
    while first and urls[first - 1] == urls[row] and records[first - 1] == records[row]:
        first -= 1
    while last + 1 < len(urls) and urls[last + 1] == urls[row]:
        last += 1
    return first, last


def embed_like(
    bundle: Bundle, embedder: Embedder, row: int, old: str, new: str, *, is_new: bool = False
) -> Floats:
    """Embed a text at length 1, in the dimensions of a bundle's codes.

    Of a changed passage (row; old: its text) only the difference is embedded: what else it is found
    by, such as its page's summary, is in its codes and not in the bundle.
    """
    codes = bundle.passage_codes
    stored: Floats = (codes.decode_rows(np.array([row])) * codes.inverse_norms[[row]])[0]
    if not is_embedder_free(embedder):
        return stored
    before, after = embedder.embed([old, new])[:, : len(stored)]
    vector = after if is_new else stored + after - before
    unit: Floats = (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)
    return unit


def is_embedder_free(embedder: Embedder) -> bool:
    """Tell whether more texts may be embedded without a cost."""
    return embeds_in_process(embedder.identity.provider)


def _make_text(name: str, sentence: str) -> PassageText:
    end = len(sentence)
    return PassageText(name, sentence, ((0, end),), (Block("text", 0, end),))


def _prepend(text: PassageText, sentence: str) -> PassageText:
    """Put a paragraph of one sentence before the text of a passage."""
    shift = len(sentence) + 1
    end = len(sentence)
    return PassageText(
        text.id,
        f"{sentence}\n{text.text}",
        ((0, end), *((a + shift, b + shift) for a, b in text.sentences)),
        (
            Block("text", 0, end),
            *(
                each._replace(start=each.start + shift, end=each.end + shift)
                for each in text.blocks
            ),
        ),
        tuple(each._replace(start=each.start + shift, end=each.end + shift) for each in text.spans),
    )
