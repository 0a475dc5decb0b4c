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

from answerable.engine.errors import LeakError
from answerable.indexing.audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import Note
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
    *(" ", "\n", "\t", "&nbsp;", "&#xa0;", "&#160;", "&#10;", "&#x0D;", "&ensp;", "\u3000"),
    *("<br>", "<br/>\n", "</p><p>", "</td>\n<td>", "</li><li class=x>", ", ", " - ", "&mdash;"),
    *("/", "...", " <b>", "</b> ", "&#8232;", "&NewLine;", "&Tab;", "\u00a0", "&#13;"),
)
FILLERS = ("", "x ", "5 < 6. ", "a > b ", "&amp; ", "<p>", "é ", "'", '"', "%20", "\\n", "<br>")


def write_reference(random: Random, letter: str) -> str:
    """A character as a reference of any form."""
    code = ord(letter)
    forms = [f"&#{code};", f"&#x{code:x};", f"&#X{code:X};", f"&#{code:07};", f"&#x{code:06x};"]
    if name := codepoint2name.get(code):
        forms.append(f"&{name};")
    return random.choice(forms)


def mark_up(random: Random, run: list[str]) -> str:
    """Words as HTML: references in them, elements inside and between them."""
    share = random.choice((0, 0, 0.2, 1))
    html = ""
    for number, word in enumerate(run):
        if number:
            # Elements alone divide two words as well as blocks, spaces and punctuation do.
            tags = "".join(random.choices(INLINE, k=2))
            html += tags if random.random() < 0.3 else random.choice(DIVIDERS)
        place = random.randrange(len(word)) if random.random() < 0.3 else 0
        for letter_number, letter in enumerate(word):
            html += random.choice(INLINE) if letter_number == place > 0 else ""
            html += write_reference(random, letter) if random.random() < share else letter
    return html


def publish(random: Random, run: list[str]) -> tuple[str, bytes]:
    """A file of a site that has some words, and its name; it may lie in an archive."""
    page = f"<p>{random.choice(FILLERS)}</p><p>{mark_up(random, run)}</p>{random.choice(FILLERS)}"
    name, text = random.choice(
        [
            ("index.html", page),
            ("feed.xml", page),
            ("x", page),
            ("page.json", json.dumps({"docs": [{"text": page}]}, ensure_ascii=False)),
        ]
    )
    data = text.encode(random.choice(("utf-8", "utf-8-sig", "utf-16")))
    if random.random() < 0.3:
        return f"{name}.gz", gzip.compress(data)
    if random.random() < 0.5:
        return name, data
    stream = io.BytesIO(random.choice((b"", b"#!/bin/sh\nexit\n", b"MZ\xff\x00")))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return random.choice(("a.zip", "b.docx", "e")), stream.getvalue()


@fuzzed(many=20_000)
@given(st.integers(0, 2**64))
def test_a_run_is_found_in_whatever_is_published(seed: int) -> None:
    random = Random(seed)
    lengths = [random.randint(1, 4) for _ in range(random.randrange(8, 30))]
    words = ["".join(random.choices(SYLLABLES, k=length)) for length in lengths]
    start = random.randrange(len(words) - 7)
    name, data = publish(random, words[start : start + 8])
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", " ".join(words))
    with pytest.raises(LeakError):
        audit_artifacts([note], [Artifact(f"site/{name}", lambda: data)])
