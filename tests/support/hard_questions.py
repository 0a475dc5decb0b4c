"""Generate hard questions about a site: headings, code, typos, odd Unicode, follow-ups, long ones.

The same seed gives the same questions of the same passages.
"""

import random
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from answerable.serve.types import Passage

SEED = 21

_WORD = re.compile(r"[^\W_]{3,}")
_FULL_WIDTH = {ord(c): ord(c) + 0xFEE0 for c in string.printable[:94]}
_MARKS = "\u0301\u0308\u0323\u0327\u20dd\u0302\u0345"
_INVISIBLE = "\u200b\u200d\u2060\ufeff\u00ad\u200e\u202e\u180e\x00\x07\x85\u2028\ud83d\udc00"
_EMOJI = ("🚀", "👩🏽‍💻", "🇩🇪", "❤️", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "𝒳", "𠮷", "🄰")
_COMPATIBLE = ("ﬁ", "²", "①", "Å", "ſ", "㎏", "Ⅷ", "ﷺ", "½", "…", "⁈", "ǆ", "ß", "İ", "ς")
_SCRIPTS = (
    "如何设置超时", "タイムアウトを設定する方法は", "كيف أضبط المهلة", "איך מגדירים זמן קצוב",
    "Как задать таймаут для", "πώς ορίζω χρονικό όριο", "समय सीमा कैसे सेट करें", "시간 제한을 어떻게",
    "วิธีตั้งค่า", "როგორ დავაყენო", "ինչպես սահմանել", "எப்படி அமைப்பது",
)  # fmt: skip
_FOREIGN = (
    "Wie kann ich {} einstellen?", "Was bedeutet {} und wozu brauche ich das?",
    "Comment puis-je configurer {} ?", "Qu'est-ce que l'option {} ?", "¿Cómo se usa {} con {}?",
    "Como faço para usar {} aqui?", "Come si imposta {} nel progetto?", "Hoe stel ik {} in?",
    "Hur ställer jag in {}?", "Jak ustawić {}?", "{} nasıl ayarlanır?", "Как настроить {}?",
    "{}の使い方を教えてください", "如何使用 {} 和 {}？", "كيف أستخدم {}؟",
)  # fmt: skip
_FRAMES = (
    "How do I use {}?", "What is {}?", "What's the difference between {} and {}?",
    "What does the documentation say about {}?", "Can I change {} without {}", "why {}",
    "Is there a way to get {}?", "Please explain to me {}.", "Where is {} described?",
    "Does it ever mention {}?", "I'm trying to understand {} but {} fails, any ideas? Thanks!",
    "{} vs {}", "Who wrote {}?", "When was {} added?", "Isn't {} the same as {}?",
    "{} doesn't work with {} — what can't I do?", "Should {} or {} be set first",
    "Which of {}, {} is better?", "Show me an example of {}", "list all {}", "not {}", "{}?!",
    "how many {} are there and how much do {} cost",
)  # fmt: skip
_RECENT = (
    "What is the latest version of {}?", "latest {}", "What's new in {}?", "most recent {} change",
    "Is {} still supported in the newest release?", "current status of {} today", "{} changelog",
    "When was {} deprecated?", "{} roadmap 2026", "news about {}", "recently added {}",
)  # fmt: skip
_FOLLOW_UPS = (
    "and on {}?", "what about {}?", "but with {}", "or {}?", "also {}", "then {} and {}?",
    "how about that", "why is that?", "and this one?", "same for {}", "what about it?", "these",
    "how does it do them?", "then?", "the", "what is it", "and {} or {} instead of {} here?",
)  # fmt: skip
_DATED = (
    "{} in version {number}", "{} {number}.{number}.{number}", "Which {} came in v{number}.x?",
    "{} since 20{year}-0{digit}-1{digit}", "What changed in {} on May {number}, 20{year}?",
    "{}=={number}.{number}rc{digit}", "error {number}00 {}", "{number}% of {}",
    "RFC {number}{number} {}", "{} >={number}.{digit},<{number}",
    "¿{number},{digit} {}?", "1_000 {} 0x{number}", "{} 3.1{digit}",
)  # fmt: skip
_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_LANGUAGES = ("en", "de", "fr", "pt-BR", "zh", "x")


@dataclass(frozen=True, slots=True)
class HardQuestion:
    """Hold a question, as it is typed, the language that is asked for, and its kind."""

    kind: str
    text: str
    language: str | None = None


class QuestionSource:
    """Make questions from what the passages of a site hold, at random."""

    def __init__(self, passages: Sequence[Passage], seed: int = SEED) -> None:
        self.random = random.Random(seed)
        self.titles = [passage.title for passage in passages]
        self.headings = [title.rpartition(" › ")[2] for title in self.titles]
        self.sentences = [
            passage.text[start:end] for passage in passages for start, end in passage.sentences
        ] or self.titles
        self.code = [
            line
            for passage in passages
            for block in passage.blocks
            if block.kind == "code"
            for line in passage.text[block.start : block.end].splitlines()
            if line.strip()
        ] or ["client.get(timeout=10.0)"]
        self.words: list[str] = sorted(
            {word for passage in passages for word in _WORD.findall(passage.text)}
        ) or ["word"]

    def make(self, kind: str) -> str:
        """Make a question of a kind."""
        return _KINDS[kind](self)

    def fill(self, templates: Sequence[str]) -> str:
        """Fill a template with subjects, numbers and digits."""
        template = self.random.choice(templates)
        return re.sub(r"\{(\w*)\}", lambda match: self._fill_field(match[1]), template)

    def _fill_field(self, name: str) -> str:
        match name:
            case "number":
                return str(self.random.randint(0, 30))
            case "digit":
                return str(self.random.randint(0, 9))
            case "year":
                return str(self.random.randint(10, 29))
            case _:
                return self.subject()

    def subject(self) -> str:
        """Choose a heading, a few words of the site, or an identifier of its code."""
        match self.random.randrange(4):
            case 0:
                return self.random.choice(self.headings)
            case 1:
                names: list[str] = re.findall(r"[\w.]{3,}", self.random.choice(self.code))
                return self.random.choice(names or self.words)
            case _:
                return " ".join(self.pick(self.words, 1, 3))

    def pick(self, values: Sequence[str], least: int, most: int) -> list[str]:
        """Pick some values, each perhaps twice."""
        return self.random.choices(values, k=self.random.randint(least, most))

    def base(self) -> str:
        """Make a plain question or a heading, for others to spoil."""
        return self.fill((*_FRAMES, "{}", "{}"))


def _shuffle(source: QuestionSource) -> str:
    words = source.random.choice([*source.titles, *source.sentences[:500]]).split()
    source.random.shuffle(words)
    return " ".join(words)


def _change_case(source: QuestionSource) -> str:
    change = source.random.choice((str.upper, str.lower, str.title, str.swapcase))
    return change(source.base())


def _widen(source: QuestionSource) -> str:
    words = source.base().split()
    return " ".join(
        word.translate(_FULL_WIDTH) if source.random.random() < 0.6 else word for word in words
    )


def _scatter(characters: Sequence[str], share: float) -> Callable[[QuestionSource], str]:
    """Put characters between those of a question."""

    def make(source: QuestionSource) -> str:
        return "".join(
            c + (source.random.choice(characters) if source.random.random() < share else "")
            for c in source.base()
        )

    return make


def _decompose(source: QuestionSource) -> str:
    """Put marks on letters, and write the question in a normal form at random."""
    form = source.random.choice(_FORMS)
    marked = "".join(
        c + (source.random.choice(_MARKS) if c.isalpha() and source.random.random() < 0.1 else "")
        for c in source.base()
    )
    return unicodedata.normalize(form, marked)


def _mix_scripts(source: QuestionSource) -> str:
    parts = [source.random.choice(_SCRIPTS), source.base(), *source.pick(_SCRIPTS, 0, 1)]
    source.random.shuffle(parts)
    return source.random.choice((" ", "")).join(parts)


def _misspell(source: QuestionSource) -> str:
    """Make one or two edits, or join or split two words."""
    text = source.base()
    for _ in range(source.random.randint(1, 2)):
        text = _edit(source.random, text)
    return text


def _edit(chance: random.Random, text: str) -> str:
    words = text.split()
    place = chance.randrange(len(words))
    word = words[place]
    cut = chance.randrange(len(word))
    letter = chance.choice(string.ascii_lowercase)
    match chance.randrange(6):
        case 0:
            word = word[:cut] + word[cut + 1 :]
        case 1:
            word = word[:cut] + letter + word[cut:]
        case 2:
            word = word[:cut] + letter + word[cut + 1 :]
        case 3:
            word = word[:cut] + word[cut + 1 : cut + 2] + word[cut] + word[cut + 2 :]
        case 4:
            word = f"{word[:cut]} {word[cut:]}"
        case _:
            words[place : place + 2] = ["".join(words[place : place + 2])]
            word = words[place]
    return " ".join([*words[:place], word, *words[place + 1 :]]) or text


def _quote_code(source: QuestionSource) -> str:
    line = source.random.choice(source.code)
    return source.random.choice(("{}", "`{}`", "What does `{}` do?", "error in {}: why")).format(
        line
    )


def _quote_sentence(source: QuestionSource) -> str:
    sentence = source.random.choice(source.sentences)
    return source.random.choice(("{}", "“{}”", 'Where does it say "{}"?', "{}?")).format(sentence)


def _lengthen(source: QuestionSource) -> str:
    """Join sentences and words to 500 characters, or to one more or less of them."""
    text = ""
    while len(text) < 520:
        text += source.random.choice((source.base(), source.random.choice(source.sentences))) + " "
    return text[: source.random.choice((499, 500, 500, 500, 501))]


def _jumble(source: QuestionSource) -> str:
    """Join words of the site and a character of any plane."""
    odd = "\uffff"
    # A browser knows characters of newer versions of Unicode, which are none to Python.
    while unicodedata.category(odd) == "Cn":
        block = source.random.choice((0x2000, 0x3000, 0xA000, 0x1F300))
        odd = chr(block + source.random.randrange(0x800))
    parts = [*source.pick(source.words, 1, 5), odd, source.random.choice(_COMPATIBLE)]
    source.random.shuffle(parts)
    return source.random.choice((" ", "", "-", "/", "_", ".")).join(parts)


_KINDS: dict[str, Callable[[QuestionSource], str]] = {
    "heading": lambda source: source.random.choice(source.headings),
    "title": lambda source: source.random.choice(source.titles),
    "shuffled": _shuffle,
    "frame": lambda source: source.fill(_FRAMES),
    "words": lambda source: " ".join(source.pick(source.words, 1, 12)),
    "case": _change_case,
    "typo": _misspell,
    "code": _quote_code,
    "sentence": _quote_sentence,
    "full-width": _widen,
    "invisible": _scatter(_INVISIBLE, 0.08),
    "emoji": _scatter(_EMOJI, 0.05),
    "compatible": _scatter(_COMPATIBLE, 0.08),
    "marks": _decompose,
    "scripts": _mix_scripts,
    "jumble": _jumble,
    "dates": lambda source: source.fill(_DATED),
    "latest": lambda source: source.fill(_RECENT),
    "follow-up": lambda source: source.fill(_FOLLOW_UPS),
    "long": _lengthen,
    "foreign": lambda source: source.fill(_FOREIGN),
}
KINDS = tuple(_KINDS)


def generate_questions(
    passages: Sequence[Passage], count: int, seed: int = SEED
) -> Iterator[HardQuestion]:
    """Generate questions of all kinds in turn; one in ten asks for a language."""
    source = QuestionSource(passages, seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        text = source.make(kind)
        language = source.random.choice(_LANGUAGES) if source.random.random() < 0.1 else None
        yield HardQuestion(kind, text, language)
