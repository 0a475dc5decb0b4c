"""Clean a question, check its length, strip what frames or continues it, find what it asks for.

Frames and follow-ups are recognized in English only.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Set
from functools import lru_cache

from ..text.languages import TRANSLATIONS, base_language
from ..text.normalization import normalize_phrase

MAX_QUESTION_CHARACTERS = 500


def clean_question(question: str) -> str:
    """Normalize a question to NFKC, without control characters, with single spaces."""
    text = unicodedata.normalize("NFKC", question)
    printable = (" " if unicodedata.category(c).startswith("C") else c for c in text)
    return " ".join("".join(printable).split())


def find_question_problem(cleaned: str) -> str | None:
    """Say in one sentence why a cleaned question cannot be answered; None if it can."""
    if not cleaned:
        return "The question is empty."
    if len(cleaned) > MAX_QUESTION_CHARACTERS:
        return f"A question has at most {MAX_QUESTION_CHARACTERS} characters."
    return None


_VERBS = """say says said think thinks thought write writes wrote written explain explains explained
    mention mentions mentioned discuss discusses discussed describe describes described talk talks
    talked speak speaks spoke tell tells told argue argues argued believe believes believed feel
    feels felt comment comments commented""".split()
_PARTICIPLES = "mentioned explained described discussed documented covered written".split()
_ADJECTIVES = """best right correct proper recommended easiest easy simplest simple good better
    other another preferred standard official possible""".split()
_SPEAKERS = """author authors writer site website blog docs documentation manual guide book essay
    essays article articles archive page pages""".split()
_PRONOUNS = "he she they it you anyone anybody someone somebody".split()

_VERB, _PARTICIPLE, _ADJECTIVE, _SPEAKER, _PRONOUN = map(
    "|".join, (_VERBS, _PARTICIPLES, _ADJECTIVES, _SPEAKERS, _PRONOUNS)
)
_WAY = rf"(?:(?:{_ADJECTIVE})\s+)*(?:way|ways|possibility|chance)\b(?:\s+(?:to|of|for))?"
_PATTERNS = (
    r"^(?:please\s+)?(?:explain|describe|discuss|tell|show)\b(?:\s+(?:to\s+)?(?:me|us))?(?:\s+about)?",
    rf"\b(?:{_PARTICIPLE})(?:\s+(?:about|on|of))?(?=\s*\??$)",
    rf"\bis\s+there\s+(?:a|an|any|some)\s+{_WAY}",
    rf"\b(?:a|any|the)\s+{_WAY}",
    r"\b(?:is|would)\s+it\s+(?:be\s+)?possible\b",
    r"\b(?:i|we)(?:\s+am|\s+are|['’]m|['’]re|\s+was|\s+have\s+been)?\s+(?:trying|try|tried|want"
    r"|wanted|need|would\s+like|wish|wonder|wondering|looking)\s+(?:to|for|if|how)\b",
    r"\b(?:any|some)\s+(?:idea|ideas|advice|suggestion|suggestions|hint|hints)\b",
    r"\bthank(?:s|\s+you)?(?:\s+in\s+advance)?\b",
)  # fmt: skip
# Without its frame, a question still begins with words such as these.
_OPENING = re.compile(
    r"^(?:(?:what|where|how|when|why|who|which|do|does|did|is|are|was|were|has|have|can|could|to|of"
    r"|for|about|on|the|a|an|please)\b[\s,:]*)+",
    re.IGNORECASE,
)
# Any other speaker belongs to the subject: "what does the RFC say about redirects".
_SAYS_ABOUT = re.compile(
    rf"^(?:what|where|how|when|why)\s+(?:do|does|did)\s+(\S.{{0,60}}?)\s+(?:{_VERB})"
    r"\s+(?:about|on|regarding)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"^(?:(?:and|but|or|also|then|same)[\s,]+)+", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"(?:^(?:what|how)\s+about\b|\b(?:this|that|these|those|it|them|one|ones)\W*$)", re.IGNORECASE
)
_MAX_SUBJECT_WORDS = 3
# Names that are rarely written by chance: options, and words with an inner underscore, dot or
# capital.
_IDENTIFIER = re.compile(
    r"--[\w-]+|[A-Za-z]\w*(?:[_.]\w+)+|[A-Z]+[a-z]+[A-Z]\w*|[a-z]+[A-Z]\w*|\w+_\w+"
)


_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+|(?<!\w)v\d")
_HISTORY_WORDS = frozenset("release released releases changelog changelogs".split())
# "What is a bundle?", and not "What is the default timeout?", which asks for a fact.
_DEFINITION = re.compile(
    r"^what(?:['’]s|\s+is|\s+are)\s+(?:an?\s+)?(?!(?:the|my|your|our|new)\b)\S+(?:\s+\S+){0,2}$",
    re.IGNORECASE,
)


def strip_frame(question: str, names: Collection[str] = ()) -> str:
    """Remove the frame of a question, such as "what does the author say about".

    names: of the site and its author, which are speakers too.
    """
    text = question
    for pattern in compile_frames(names):
        text = pattern.sub(" ", text)
    text = _SAYS_ABOUT.sub(r"\1", text)
    if text == question:
        return question
    words = _OPENING.sub("", text.strip()).split()
    subject = " ".join(words)
    # In the mean vector of few words a question mark would count like one of them.
    return subject.rstrip(" ?!.,") if len(words) <= _MAX_SUBJECT_WORDS else subject


def strip_continuation(question: str) -> str:
    """Remove the words by which a question continues an earlier one, such as "and" or "but"."""
    return _CONTINUES.sub("", question)


def points_back(question: str) -> bool:
    """Test whether a question ends or begins as one about something that was said before."""
    return _POINTS_BACK.search(question) is not None


def find_identifiers(question: str) -> frozenset[str]:
    """Find the options, classes and other names of code in a question, as they are written."""
    return frozenset(_IDENTIFIER.findall(question))


def asks_for_definition(question: str) -> bool:
    """Test whether a question asks what something is."""
    return _DEFINITION.search(question) is not None


def asks_for_history(question: str, phrases: Set[str]) -> bool:
    """Test whether a question names a version, a release or the changelog. phrases: in it."""
    return _VERSION.search(question.lower()) is not None or not _HISTORY_WORDS.isdisjoint(phrases)


def asks_about_now(question: str, phrases: Set[str], languages: Iterable[str]) -> bool:
    """Test whether a question has a word for now in one of the languages. phrases: in it."""
    now_phrases, substrings = collect_now_words(tuple(languages))
    return not now_phrases.isdisjoint(phrases) or any(words in question for words in substrings)


@lru_cache(maxsize=64)
def collect_now_words(languages: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Collect the words for now of some languages: whole phrases, and substrings.

    In a language written without spaces a word is searched for anywhere.
    """
    phrases: set[str] = set()
    substrings: list[str] = []
    for language in sorted({base_language(tag) for tag in languages} & TRANSLATIONS.keys()):
        words = TRANSLATIONS[language]
        if words.is_spaced:
            phrases.update(map(normalize_phrase, words.now.split(",")))
        else:
            substrings += words.now.split(", ")
    return frozenset(phrases), tuple(substrings)


def compile_frames(names: Collection[str]) -> tuple[re.Pattern[str], ...]:
    """Compile the patterns of frames, in the order in which they are removed.

    names: of the site and its author.
    """
    speakers = [r"\s+".join(map(re.escape, name.split())) for name in names]
    speakers += [re.escape(word) for name in names for word in name.split() if len(word) > 2]
    return _compile_frames(tuple(sorted(speakers)))


@lru_cache(maxsize=8)
def _compile_frames(speakers: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    speaker = "|".join([rf"(?:the|this|these|your|their)\s+(?:{_SPEAKER})", _PRONOUN, *speakers])
    says = (
        rf"(?:\b(?:do|does|did|has|have|can|could|would)\s+)?\b(?:{speaker})\s+(?:ever\s+|also\s+)*"
        rf"(?:{_VERB}|know)\b(?:\s+(?:us|me|anything|something|more))*"
        r"(?:\s+(?:about|on|of|regarding|that|if|how))?"
    )
    return tuple(re.compile(each, re.IGNORECASE) for each in (says, *_PATTERNS))
