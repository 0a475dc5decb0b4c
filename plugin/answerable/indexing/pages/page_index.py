"""Pages as a build keeps them: passages, counts of terms and enrichment."""

import posixpath
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path, PurePosixPath

from ...engine.errors import NotebookError, SiteError
from ...engine.retrieval import question
from ...engine.text.tokenization import (
    detect_scripts,
    extract_words,
    is_space_delimited,
    split_words,
)
from ...engine.text.urls import is_safe_url
from .. import stems
from ..notes.transcripts import TRANSCRIPT_SUFFIXES, parse_transcript
from ..yaml_reader import DuplicateKeyError, YamlError, parse_yaml
from .markdown import parse_article
from .passages import IndexedPassage, PassageWindow, cut_passages, link_to_time
from .records import PageSource, Record, Transcript


@dataclass(frozen=True, slots=True)
class CuttingRules:
    """Options that decide how pages are cut.

    ``abbreviations`` are the site's own, ``enrichment`` is extra retrieval text by record id.
    """

    window: PassageWindow = field(default_factory=PassageWindow)
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    enrichment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TermCounts:
    """The distinct terms of a passage's retrieval text and, parallel, how often each occurs."""

    terms: tuple[str, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PageIndex:
    """A record without its text, its passages in reading order and, parallel, their terms.

    ``scripts`` are those that the passages are written in, ``words`` those that a question's words
    are compared with (see ``engine.retrieval.question``). ``stems``: by word, where they differ.
    """

    record: Record
    passages: tuple[IndexedPassage, ...]
    term_counts: tuple[TermCounts, ...]
    scripts: frozenset[str]
    words: frozenset[str]
    stems: Mapping[str, str]


def parse_record(source: PageSource) -> Record:
    """Parse the article of a page into a record."""
    article = parse_article(source.html or "", source.title, source.url)
    return Record(
        id=source.id,
        url=source.url,
        title=source.title,
        metadata=source.metadata,
        sections=article.sections,
        anchors=article.anchors,
        abbreviations=article.abbreviations,
        language=source.language,
        transcript=source.transcript,
    )


def index_record(record: Record, rules: CuttingRules | None = None) -> PageIndex:
    """Cut and count a record; an excluded one keeps its anchors and has no passages."""
    rules = rules or CuttingRules()
    passages: list[IndexedPassage] = []
    if not record.metadata.excluded:
        abbreviations = {**rules.abbreviations, **record.abbreviations}
        extra = rules.enrichment.get(record.id, "")
        passages = cut_passages(record, rules.window, abbreviations, extra)
    texts = [passage.retrieval_text for passage in passages]
    return PageIndex(
        record=replace(record, sections=(), transcript=None),
        passages=tuple(passages),
        term_counts=tuple(count_terms(text, record.language) for text in texts),
        scripts=frozenset().union(*map(detect_scripts, texts)),
        words=frozenset().union(*(list_words(text, record.language) for text in texts)),
        stems=find_stems(texts, record.language),
    )


def list_words(text: str, language: str) -> Iterator[str]:
    """List the words of letters only, in lower case, that a near spelling may stand for."""
    for token in split_words(text):
        word = token.lower()
        # An edit may take a letter away from the shortest word that is corrected, and leave a word
        # with a meaning: "wasm" is not "was".
        is_long = len(word) >= question.MIN_WORD_LETTERS
        is_short_term = len(word) == question.MIN_WORD_LETTERS - 1 and extract_words(word, language)
        if (is_long or is_short_term) and word.isalpha() and is_space_delimited(word):
            yield word


def count_terms(text: str, language: str) -> TermCounts:
    """Count the content terms of a text, in order of first use."""
    # No term reaches over white space, and a site repeats its words.
    counts = Counter(chain.from_iterable(map(_cached_term_reader(language), text.split())))
    return TermCounts(tuple(map(sys.intern, counts)), tuple(counts.values()))


@cache
def _cached_term_reader(language: str) -> Callable[[str], list[str]]:
    return cache(partial(stems.extract_stems, language=language))


def find_stems(texts: Iterable[str], language: str) -> dict[str, str]:
    """Find the stem of each word of some texts that is not its own stem."""
    stem = stems.load_stemmer(language)
    tokens = frozenset().union(*map(str.split, texts))
    words = frozenset().union(*(extract_words(token, language) for token in tokens))
    return {word: term for word in sorted(words) if (term := stem(word)) != word}


_ABBREVIATION_LINE = re.compile(r"^\*\[([^\]\n]+)\]:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read_abbreviations(path: Path) -> dict[str, str]:
    """Map short forms to long ones, from lines such as ``*[SSO]: single sign-on``.

    Other lines are ignored; SiteError if the file cannot be read or holds no such line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"abbreviations: {path} cannot be read ({error})") from None
    lines = _ABBREVIATION_LINE.findall(text)
    abbreviations = {short.strip(): long for short, long in lines if short.strip()}
    if not abbreviations:
        raise SiteError(
            f"abbreviations: {path} holds no line such as `*[SSO]: single sign-on`; add one or "
            "drop the option"
        )
    return abbreviations


def read_enrichment(path: Path) -> dict[str, str]:
    """Map record ids to extra retrieval text; SiteError names the file and the id of a mistake.

    A value is a text or a list of texts, which become lines.
    """
    try:
        data = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"enrichment: {path} cannot be read ({error})") from None
    except DuplicateKeyError as error:
        raise SiteError(
            f"enrichment: {path}: {error.key!r} stands there twice; join the two"
        ) from None
    except YamlError as error:
        where = f" in line {error.line}" if error.line else ""
        raise SiteError(f"enrichment: {path} is not YAML{where}; correct it") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SiteError(f"enrichment: {path} is not a list of `record id: text` lines; correct it")
    try:
        by_id = {str(key): value for key, value in data.items()}
    except ValueError:
        # Python refuses to format integers of thousands of digits.
        raise SiteError(f"enrichment: {path}: a number is the id of no record; drop it") from None
    return {name: _join_texts(path, name, value) for name, value in by_id.items()}


def check_enrichment_ids(enrichment: Collection[str], ids: Collection[str], path: Path) -> None:
    """Refuse ids that no record has; SiteError names the first and what comes close."""
    for name in enrichment:
        if name not in ids:
            near = get_close_matches(name, ids, 3, 0.5)
            hint = f"; close to it are {', '.join(near)}" if near else ""
            raise SiteError(
                f"enrichment: {path}: {name!r} is the id of no record: give a page's path in the "
                f"docs folder without its suffix, such as `guide/deploy`{hint}"
            )


def _join_texts(path: Path, name: str, value: object) -> str:
    values = value if isinstance(value, list) else [value]
    lines = [line for line in values if isinstance(line, str) and line.strip()]
    if not lines or len(lines) < len(values):
        raise SiteError(
            f"enrichment: {path}: {name!r} has to be a text or a list of texts; put it in quotes"
        )
    return "\n".join(" ".join(line.split()) for line in lines)


def read_published_transcript(
    page: str, path: object, media: object, find_file: Callable[[str], Path | None]
) -> Transcript:
    """Read the transcript of a page; SiteError names the page or the file, and the remedy.

    page: its path in the docs folder. path, media: ``transcript`` and ``media`` of its front
    matter. find_file: returns where a published file of the docs folder lies.
    """
    if not isinstance(path, str) or not path.strip():
        raise SiteError(f"{page}: transcript: {path!r:.80} is not a path; write one as talk.vtt")
    name = resolve_transcript_path(page, path)
    if PurePosixPath(name).suffix.lower() not in TRANSCRIPT_SUFFIXES:
        raise SiteError(
            f"{page}: transcript: {path!r:.80} ends in neither .vtt nor .srt; convert the file"
        )
    file = find_file(name)
    if file is None:
        raise SiteError(
            f"{page}: transcript: {path!r:.80} is not a published file of the docs folder; give "
            "its path from the page, such as talk.vtt, or from the docs folder, such as /talk.vtt"
        )
    address = _check_media(page, media)
    try:
        cues = parse_transcript(file.read_text("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise SiteError(f"{name}: it is not UTF-8; save it as UTF-8") from None
    except NotebookError as error:
        raise SiteError(str(error)) from None
    return Transcript(cues, address)


def resolve_transcript_path(page: str, path: str) -> str:
    """Resolve a path that begins at the page or, with a slash, at the docs folder."""
    folder = posixpath.join("/", posixpath.dirname(page))
    return posixpath.normpath(posixpath.join(folder, path.strip())).lstrip("/")


def _check_media(page: str, media: object) -> str:
    """Check where a recording is played; "" where its page has it."""
    if media is None:
        return ""
    is_address = isinstance(media, str) and media.startswith(("https://", "http://"))
    if not isinstance(media, str) or not is_address or not is_safe_url(link_to_time(media, 0)):
        raise SiteError(
            f"{page}: media: {media!r:.80} is not an http(s) url; correct it, for example "
            "https://video.example/talk, or leave it out"
        )
    return media
