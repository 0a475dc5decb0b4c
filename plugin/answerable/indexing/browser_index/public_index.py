"""Reduce a site's index to what its published pages hold: notes have no field in the result."""

from dataclasses import dataclass

from ...serve.bundle_format.postings import PhraseEntry
from ...serve.bundle_format.profile import Profile
from ...serve.bundle_format.site_metadata import LanguageRows, SiteMetadata
from ...serve.bundle_format.text_lines import THEME_SEPARATOR
from ...serve.embedders.embedder import Vectors
from ...serve.errors import SiteError
from ...serve.types import Passage
from ..index import SiteIndex
from ..lexicon import Lexicon
from ..output.bundle_contents import clip_context, join_themes
from ..pages.records import Record


@dataclass(frozen=True, slots=True)
class PublicRecord:
    """Hold what an index says of a page: its id, url, weight, date, and its title's norm.

    ``context_length``: characters of its summary and themes, which count as evidence beside a text.
    """

    id: str
    url: str
    weight: float
    date: str | None
    title_norm: float
    is_history: bool
    context_length: int


@dataclass(frozen=True, slots=True)
class PublicPhrases:
    """Hold the phrases that a question may name, and the terms of titles, sorted."""

    names: tuple[PhraseEntry, ...]
    aliases: tuple[PhraseEntry, ...]
    themes: tuple[PhraseEntry, ...]
    title_terms: tuple[PhraseEntry, ...]


@dataclass(frozen=True, slots=True)
class PublicIndex:
    """Hold the index of a site's published pages.

    ``passage_records`` gives each passage's record as a row. ``passage_vectors`` (n, d) are in
    full precision.
    """

    site: SiteMetadata
    profile: Profile
    records: tuple[PublicRecord, ...]
    phrases: PublicPhrases
    passages: tuple[Passage, ...]
    passage_records: tuple[int, ...]
    passage_vectors: Vectors
    lexicon: Lexicon
    words: tuple[str, ...]


def select_public_index(index: SiteIndex, profile: Profile) -> PublicIndex:
    """Select what the published pages hold; SiteError for a site with notes."""
    if index.hints:
        raise SiteError(
            "notebook: a site with private notes cannot answer in the browser; set answers_in to "
            "function"
        )
    columns = (index.records, index.weights, index.titles.norms, index.is_history)
    return PublicIndex(
        site=SiteMetadata(
            name=index.site.name,
            url=index.site.url,
            language=index.site.language,
            scripts=index.scripts,
            route=index.site.route,
            languages=tuple(LanguageRows(*each) for each in index.languages),
            names=index.site.names,
            author=index.site.author,
        ),
        profile=profile,
        records=tuple(
            PublicRecord(
                record.id,
                record.url,
                weight,
                record.metadata.date,
                norm,
                is_history,
                _count_context_characters(record),
            )
            for record, weight, norm, is_history in zip(*columns, strict=True)
        ),
        phrases=PublicPhrases(index.names, index.aliases, index.themes, index.titles.terms),
        passages=tuple(each.passage for each in index.passages),
        passage_records=index.passage_records,
        passage_vectors=index.passage_vectors,
        lexicon=index.lexicon,
        words=index.words,
    )


def _count_context_characters(record: Record) -> int:
    """Count the characters of a page's context as a bundle holds it."""
    themes = join_themes(record.metadata.themes)
    return len(clip_context(record.metadata.summary)) + len(themes.replace(THEME_SEPARATOR, ""))
