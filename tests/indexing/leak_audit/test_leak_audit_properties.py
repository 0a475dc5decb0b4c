"""A run of a note's words is found however a site publishes it."""

import gzip
import io
import json
import zipfile
from html.entities import codepoint2name
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.leak_audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import Note
from answerable.serve.errors import LeakError
from support.fuzz_settings import fuzzed

pytestmark = pytest.mark.deep

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "pra", "sto", "tri", "é", "ß", "ж", "ç", "9", "a1", "x")
# Each begins and ends within a line, inside a word or between two.
INLINE = (
    *("<b>", "</b>", "<i class='a b'>", "</i>", '<a href="#x" title="5 > 4">', "</a>", "<wbr>"),
    *("<span\nid=x>", "</span>", "<x-y z=1>", "&shy;", "&#xAD;", "&#8203;", "&ZeroWidthSpace;"),
    *("\u200b", "\u2060", "<!-- not so -->", "<script>f('x')</script>", "<style>a{b:c}</style>"),
)
DIVIDERS = (
    *(" ", "\n", "\t", "&nbsp;", "&#xa0;", "&#160;", "&#10;", "&#x0D;", "&ensp;"),
    *("<br>", "<br/>\n", "</p><p>", "</td>\n<td>", "</li><li class=x>", ", ", " - ", "&mdash;"),
    *("/", "...", " <b>", "</b> ", "&#8232;", "\u3000", "&NewLine;", "&Tab;", "\u00a0", "&#13;"),
)
FILLERS = (
    *("", "x ", "5 < 6. ", "a > b ", "&amp; ", "<p>", "é ", "'", '"', "%20", "\\n", "<br>"),
    "0:04 ",
)
SPACES = "\t\n \u00a0\u2003\u3000"
HEX = frozenset("0123456789abcdefABCDEF")


def make_words(random: Random, count: int) -> list[str]:
    """Words that a note may have; few are alike."""
    return ["".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(count)]


def reference(random: Random, letter: str, after: str) -> str:
    """A character as a reference of any form. after: the character that follows it."""
    code = ord(letter)
    forms = [f"&#{code};", f"&#x{code:x};", f"&#X{code:X};", f"&#{code:07};", f"&#x{code:06x};"]
    if not after.isdigit():
        forms.append(f"&#{code}")
    if after not in HEX:
        forms.append(f"&#x{code:x}")
    if name := codepoint2name.get(code):
        forms.append(f"&{name};")
    return random.choice(forms)


def coded(random: Random, text: str, share: float) -> str:
    """A text with a share of its characters as references."""
    followed = zip(text, f"{text[1:]} ", strict=False)
    return "".join(
        reference(random, letter, after) if random.random() < share else letter
        for letter, after in followed
    )


def divider(random: Random, after: str, breaks: tuple[str, ...]) -> str:
    """Separate two words. after: the character that follows it."""
    if random.random() < 0.3:
        return reference(random, random.choice(SPACES), after)
    if not breaks:
        return random.choice(SPACES)
    # Elements alone divide two words as well as blocks, spaces and punctuation do.
    return (
        "".join(random.choices(breaks, k=2)) if random.random() < 0.3 else random.choice(DIVIDERS)
    )


def marked_up(random: Random, run: list[str], breaks: tuple[str, ...] = INLINE) -> str:
    """Words as HTML: references in them, elements inside and between them."""
    share = random.choice((0, 0, 0.2, 1))
    html = ""
    for number, word in enumerate(run):
        if number:
            html += divider(random, word[0], breaks)
        at = random.randrange(len(word) + 1) if breaks and random.random() < 0.3 else 0
        inside = random.choice(breaks) if at else ""
        html += coded(random, word[:at], share) + inside + coded(random, word[at:], share)
    return html


def in_page(random: Random, run: list[str]) -> str:
    """Words in a page: shown, in a comment, in an attribute, or each in an element of its own."""
    before, after = random.choice(FILLERS), random.choice(FILLERS)
    match random.randrange(5):
        case 0:
            unquoted = marked_up(random, run, ()).replace("'", "")
            quote = random.choice("\"'")
            filler = random.choice(("", "x ", "5 < 6, ", "a > b "))
            return f"<p>{before}</p><img class=x alt={quote}{filler}{unquoted}{quote}>{after}"
        case 1:
            breaks = tuple(tag for tag in INLINE if not tag.startswith("<!--"))
            return f"{before}<!-- {marked_up(random, run, breaks)} -->{after}"
        case 2:
            tag = random.choice(("span", "i", "text", "tspan", "x-word", "td", "li"))
            each = "".join(f"<{tag} data-t=1>{coded(random, word, 0.2)}</{tag}>" for word in run)
            return f"<p>{before}</p>{each}{after}"
        case _:
            return f"<p>{before}</p><p>{marked_up(random, run)}</p>{after}"


def escaped(random: Random, text: str) -> str:
    """A text as a string of JSON, which may escape its slashes and what is not ASCII."""
    quoted = json.dumps(text, ensure_ascii=random.random() < 0.5)
    return quoted.replace("/", "\\/") if random.random() < 0.5 else quoted


def in_json(random: Random, run: list[str]) -> str:
    """Words in JSON: in one string, or divided among strings of a transcript."""
    if random.random() < 0.5:
        text = in_page(random, run) if random.random() < 0.5 else " ".join(run)
        return f'{{"docs": [{{"title": "x", "text": {escaped(random, text)}}}]}}'
    words = ", ".join(
        f'{{"start": {n}.5, "word": {escaped(random, word)}}}' for n, word in enumerate(run)
    )
    return f'{{"segments": [{{"words": [{words}]}}], "language": "en"}}'


def publish(random: Random, run: list[str]) -> tuple[str, bytes]:
    """A file of a site that has some words, and its name; it may lie in an archive."""
    if random.random() < 0.6:
        name, text = random.choice(("index.html", "feed.xml", "a.svg", "x")), in_page(random, run)
    else:
        name, text = random.choice(("a.json", "b.json3", "x")), in_json(random, run)
    data = text.encode(random.choice(("utf-8", "utf-8-sig", "utf-16")))
    if random.random() < 0.3:
        return f"{name}.gz", gzip.compress(data)
    if random.random() < 0.5:
        return name, data
    stream = io.BytesIO(random.choice((b"", b"#!/bin/sh\nexit\n", b"MZ\xff\x00")))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return random.choice(("a.zip", "b.docx", "d.png", "e")), stream.getvalue()


@fuzzed(many=20_000)
@given(st.integers(0, 2**64))
def test_a_run_is_found_in_whatever_is_published(seed: int) -> None:
    random_choices = Random(seed)
    words = make_words(random_choices, random_choices.randrange(8, 30))
    start = random_choices.randrange(len(words) - 7)
    name, data = publish(random_choices, words[start : start + 8])
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", " ".join(words))
    leaks: list[str] = []
    try:
        audit_artifacts([note], [Artifact(f"site/{name}", lambda: data)])
    except LeakError as error:
        leaks.append(str(error))
    assert leaks, f"{words[start : start + 8]} not found in {name}: {data[:2000]!r}"
