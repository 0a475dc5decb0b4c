"""Recognize English phrases that deny a whole statement, such as "It is not true that"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# No frame is longer, and every pattern is matched against so much text at most: the time for a
# sentence grows with its length alone, whatever is in it.
_MAX_FRAME = 160
_MAX_POINTING = 80

_NEGATOR = r"(?:\b(?:not|cannot|never|no longer|hardly|far from|anything but|no way)|n't)"
_ADVERBS = r"(?: (?:\w+ly|at all|even|quite|just)){0,3}"
_NEGATED_TRUE = (
    rf"{_NEGATOR}(?: be| been)?{_ADVERBS} (?:true|the case|correct|right|accurate|so|a fact"
    r"|the truth)\b"
)
_UNTRUE_NOUN = r"(?:lie|myth|misconception|falsehood|rumou?r|hoax|fiction)"
_NONSENSE = rf"\b(?:untrue|nonsense|(?:no|little) truth|an? (?:\w+ ){{0,2}}{_UNTRUE_NOUN})\b"
_FALSE = r"\b(?:false|wrong|incorrect|inaccurate|mistaken|fake|a mistake)\b"
_UNTRUE = rf"(?P<untrue>{_NEGATED_TRUE}|{_NONSENSE}|{_FALSE})"
_STATES = (
    r"(?:says?|said|states?|claims?|means?|believes?|thinks?|assumes?|holds?|follows?|impl(?:y|ies)"
    r"|suggests?|concludes?|pretends?|trusts?|supposes?)"
)
_STATED = r"(?:stated|claimed|believed|thought|assumed|implied|suggested|supposed)"
_WRONGLY = r"(?:wrongly|falsely|mistakenly|incorrectly|erroneously)"
_DENIES = r"(?:deny|denies|denied|doubts?|disputes?|refutes?|disproves?|contradicts?)"
_STATEMENT = r"(?:statement|claim|idea|assumption|belief|notion|sentence|assertion|view)"
_COPULA = (
    r"(?:'s| (?:is|was|are|were|be|been|has|have|had|would|could|can?|may|might|must|will|wo|seems?"
    r"|sounds?|remains?|appears?)){1,3}"
)
# "In the claim", "to say": what may stand between "untrue" and "that".
_ABOUT = (
    rf"(?: (?:in|about|to) (?:(?:the|this|any) (?:\w+ )?)?(?:{_STATEMENT}|{_STATES}|saying|claiming"
    r"|thinking|believing|assuming))?"
)
# After "it is not that" they make a comparison, as in "It is not that simple".
_DEGREES = (
    r"(?:simple|easy|hard|difficult|bad|good|much|many|long|big|large|small|far|often|important"
    r"|clear|fast|slow|common|likely|different|strict|expensive|cheap)"
)


def _compile(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


# What stands before a denied statement, at the start of a sentence or after a joint.
_LEADING = _compile(
    rf"(?:[^.;:]{{0,40}}?\b(?:it|there)(?:{_COPULA}[^.;:]{{0,25}}?)? ?|(?:\w+ )?)"
    rf"{_UNTRUE}{_ABOUT} that\b",
    rf"[^.;:]{{0,40}}?(?:\b(?:not|cannot|never|nobody|no one|nothing)|n't) (?:\w+ ){{0,2}}?"
    rf"{_STATES} that\b",
    rf"[^.;:]{{0,40}}?\b{_WRONGLY} (?:{_STATES}|{_STATED}) that\b",
    rf"[^.;:,]{{0,30}}?\b{_DENIES} (?:the {_STATEMENT} )?that\b",
    r"contrary to [^.;:,]{0,30}?\bthat\b",
    rf"as (?:\w+ ){{1,4}}?{_WRONGLY} (?:{_STATES}|{_STATED}),",
    rf"it(?: is not|'s not| was not| isn't| wasn't) that\b(?! {_DEGREES}\b)",
)
# Before a colon a verdict has to stand alone: "Default: false" and "If it is wrong: stop" are none,
# and "false:" in lower case is a value that is explained.
_LEADING_COLON = _compile(
    r"(?!(?-i:false ?:))(?:(?:it|this|that|what follows|the following|here)"
    rf"(?:{_COPULA})? ?)?(?:\w+ly )?{_UNTRUE} ?:",
    rf"(?:an? |one |the )?(?:\w+ )?{_UNTRUE_NOUN}(?: \d+)? ?:",
)
# A condition, or a setting, denies nothing.
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|where|whether|unless|until|once|sets?|setting)\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|cannot|never|nobody|hardly|far from)\b|n't\b", re.IGNORECASE)
# What stands after a denied statement, at the end of a sentence.
_TRAILING = _compile(
    rf"[,;:(–—-]+ ?(?:which|this|that){_COPULA}(?:,? \w+){{0,3}}?,? ?{_UNTRUE}\Z",
    rf"(?: -|[:(–—-]) ?(?P<untrue>{_NEGATED_TRUE}|{_NONSENSE})\Z",
    rf"(?:[,;:(–—-]| or| as)(?:,? \w+){{1,5}}? {_WRONGLY} (?:{_STATES}|{_STATED})\Z",
)
_THAT = re.compile(rf"(?P<noun>the {_STATEMENT} )?that ", re.IGNORECASE)
_IS_UNTRUE = re.compile(rf"(?P<before>.*){_COPULA}(?:,? \w+){{0,2}}?,? ?{_UNTRUE}\Z", re.IGNORECASE)
# "That key is wrong" shows a key; "that the key is used is wrong" denies a statement.
_SUBJECT = re.compile(
    r"(?:the|an?|this|these|those|it|you|we|they|he|she|there|all|each|every|no|any)\b"
    r"|.*\b(?:is|are|was|were|has|have|can|does|do|will|must|may)\b",
    re.IGNORECASE,
)
# In a sentence about one of these "false" is a value.
_VALUE = re.compile(
    r"\b(?:defaults?|values?|options?|settings?|sets?|flags?|arguments?|parameters?|fields?"
    r"|variables?|returns?|returned|booleans?)\b",
    re.IGNORECASE,
)
# A sentence that does nothing but deny the one before it, or the one after it.
_POINTING = re.compile(
    r"\W*(?:(?:but|and) )?(?:(?P<answer>no|nope|not)"
    rf"|(?:(?:this|that|it|all of (?:this|that|it))(?:{_COPULA})?(?:,? \w+){{0,2}}?,? ?)?{_UNTRUE}"
    r"|(?:quite )?the (?:opposite|reverse|contrary)(?: is (?:true|the case|so))?)\W*",
    re.IGNORECASE,
)
_CONJUNCTION = r"(?:and|or|but|nor|yet|so|because|since|while|although|though)"
_JOINT = re.compile(
    rf"[,;:] (?:{_CONJUNCTION} )?| {_CONJUNCTION} | [–—-]+ ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Proposition:
    """A statement, apart from the phrases that deny it as a whole.

    ``sentence``: the words that it was read from, with those phrases.
    """

    text: str
    sentence: str
    is_denied: bool


def split_denials(sentences: Sequence[str]) -> list[Proposition]:
    """Split each sentence from the phrases that deny it as a whole; tell whether one does.

    Two denials of one statement undo each other. A sentence that only denies another one is left
    out.
    """
    statements: list[Proposition] = []
    pointing: list[str] = []
    for sentence in (" ".join(each.split()) for each in sentences):
        match = _match_pointing(sentence, statements)
        if match and statements:
            last = statements[-1]
            both = f"{last.sentence} {sentence}"
            statements[-1] = Proposition(last.text, both, not last.is_denied)
        elif match:
            # "No." answers a question, and what comes next says the same.
            pointing += [] if match["answer"] else [sentence]
        else:
            whole = " ".join((*pointing, sentence))
            for part in _split_at_frames(sentence):
                text, is_denied = _strip_frames(part)
                statements.append(Proposition(text, whole, is_denied != bool(len(pointing) % 2)))
                pointing = []
    return statements


def _match_pointing(sentence: str, before: Sequence[Proposition]) -> re.Match[str] | None:
    """Match a sentence that only denies; "It is false" after a value is none."""
    match = _POINTING.fullmatch(sentence) if len(sentence) <= _MAX_POINTING else None
    if match and before and _names_value(match, before[-1].text):
        return None
    return match


def _names_value(match: re.Match[str], statement: str) -> bool:
    """Test whether the "false" of a frame may be the value that a statement is about."""
    untrue = match.groupdict().get("untrue") or ""
    return untrue.lower() == "false" and bool(_VALUE.search(statement))


def _split_at_frames(sentence: str) -> Iterator[str]:
    """Split a sentence before each phrase that denies what follows it, as in "A, and not so: B"."""
    start = 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() > start and _match_leading(sentence, joint.end(), _LEADING):
            yield sentence[start : joint.start()]
            start = joint.end()
    yield sentence[start:]


def _match_leading(
    text: str, start: int, frames: Sequence[re.Pattern[str]]
) -> re.Match[str] | None:
    """Match a denying phrase at a place, unless it stands in a condition."""
    beginning = text[start : start + _MAX_FRAME]
    match = next(filter(None, (frame.match(beginning) for frame in frames)), None)
    return None if match is None or _CONDITION.search(match[0]) else match


def _strip_frames(sentence: str) -> tuple[str, bool]:
    """Strip the phrases that deny a sentence; tell whether their number is odd."""
    text, is_denied = sentence.strip(), False
    while match := _match_leading(text, 0, (*_LEADING, *_LEADING_COLON)):
        text, is_denied = text[match.end() :].strip(), is_denied != _denies(match)
    statement, denies = _strip_trailing(text)
    return statement, is_denied != denies


def _denies(match: re.Match[str]) -> bool:
    """Test that no other negation undoes a frame's, as in "It is not false that"."""
    groups = match.groupdict()
    if not groups.get("untrue"):
        return True
    start = match.end("before") if "before" in groups else match.start()
    return not _NEGATED.search(match.string[start : match.start("untrue")])


def _strip_trailing(text: str) -> tuple[str, bool]:
    """Strip a phrase that calls what stands before it untrue; tell whether it does."""
    trimmed = text.rstrip(" .!?)\"'*_")
    tail = max(0, len(trimmed) - _MAX_FRAME)
    opening = _THAT.match(trimmed)
    ending = _IS_UNTRUE.match(trimmed, tail) if opening else None
    if opening and ending:
        statement = trimmed[opening.end() : ending.end("before")]
        if opening["noun"] or (len(statement.split()) > 2 and _SUBJECT.match(statement)):
            return statement, _denies(ending)
    for frame in _TRAILING:
        match = frame.search(trimmed, tail)
        if match and match.start() and not _names_value(match, trimmed[: match.start()]):
            return trimmed[: match.start()], _denies(match)
    return text, False
