"""Every way that a file gives text away is read, and no bytes break the reading."""

import base64
import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.leak_audit.markup import strip_markdown
from answerable.indexing.leak_audit.text_extraction import (
    InflateBudget,
    extract_name_texts,
    extract_texts,
    inflate_stream,
)
from answerable.indexing.leak_audit.word_runs import index_runs, split_tokens
from answerable.indexing.notes.notebook import Note
from answerable.serve.index.format import CONTAINER_FORMAT

TEXT = "the old lantern was sold to a blind trader"
HTML = f"<p>{TEXT}</p>"
CONTAINER_HEADER = f'{{"format":"{CONTAINER_FORMAT}","text":"'.encode()


def zipped(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.txt", "nothing")
        archive.writestr(name, data)
    return stream.getvalue()


def npy(values: list[str]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values))
    return stream.getvalue()


RUNS = index_runs([Note("a.md", "note:1", "Plans", "", "a.md", "", TEXT)])


def places(name: str, data: bytes) -> list[str]:
    """List the places of a file in which the whole text is read."""
    return [
        reading.place
        for reading in extract_texts(name, data)
        if {run for _, run in RUNS.find(reading.text)} == set(RUNS.owners)
    ]


def segments() -> list[tuple[int, str]]:
    """The text in cues, each with the second at which it begins; a word is in two of them."""
    return [(1, "the old"), (4, "lantern was sold"), (75, "to a bl"), (76, "ind trader")]


def timed(form: str, between: str = "\n") -> bytes:
    """The cues in a form: their text, minute and second."""
    cues = [(1, "the old"), (4, "lantern was sold"), (75, "to a"), (76, "blind trader")]
    return between.join(form.format(text, n // 60, n % 60) for n, text in cues).encode()


SPLIT = "<p>the <em>old</em> lan<b>tern</b> was</p><p>sold to<br>a bli<wbr>nd trader</p>"
ESCAPED = "".join(f"\\u{ord(c):04x}" for c in TEXT)
CHANNELS = {
    "plain.txt": TEXT.encode(),
    "no-suffix": TEXT.upper().encode(),
    "tags.html": SPLIT.encode(),
    "quoted.html": b'<p>the old <a title="5 > 4">lantern</a> was sold to a blind trader',
    "attribute.html": f'<img alt="{TEXT}">'.encode(),
    "comment.html": b"<!-- <p>the old <b>lantern</b> was sold to a blind trader</p> -->",
    "spans.html": "".join(f"<span>{word}</span>" for word in TEXT.split()).encode(),
    "spans-inside.html": b"<i>the</i><i>old</i><b>lan</b>tern<i>was</i> sold<a\nid=x></a>to<wbr>a"
    b"<i>bl</i>ind<!-- x -->tra<u>d</u>er",
    "no-width.txt": TEXT.replace(" ", "\u200b").replace("tern", "\u00adtern").encode(),
    "bracket.html": f'<img alt="5 < 6: {TEXT.replace("was", "< was >")}">'.encode(),
    "brackets.txt": b"if the old < lantern was > sold <to a> blind trader",
    "script.html": f'<script>let a = "{ESCAPED}"</script>'.encode(),
    "base64.html": f"<i data-hint='{base64.b64encode(HTML.encode() * 2).decode()}'>".encode(),
    "data-url.html": f"<a href='data:text/html;base64,{base64.b64encode(HTML.encode()).decode()}'>x"
    "</a>".encode(),
    "packed-base64.html": b"<i data-hint=%s></i>"
    % base64.urlsafe_b64encode(gzip.compress(HTML.encode())),
    "joined.html": f"<span id='{TEXT.replace(' ', '_')}'></span>".encode(),
    "digits.html": f"<p>&#{'9' * 5000}; &#x{'9' * 5000}; {TEXT} &#0; &#xd800;".encode(),
    "entities.html": TEXT.replace("a", "&#97;").replace(" ", "&nbsp;").encode(),
    "feed.xml": b"<d>&lt;p&gt;the old &lt;b&gt;lantern&lt;/b&gt; was sold to a blind trader</d>",
    "cdata.xml": b"<d><![CDATA[the old <b>lantern</b> was sold to a blind trader]]></d>",
    "image.svg": f"<svg><title>{TEXT}</title></svg>".encode(),
    "link.html": f'<a href="mailto:?body={TEXT.replace(" ", "%20")}">x</a>'.encode(),
    "app.js": b'x("the old\\nlantern was\\tsold \\x74o \\u{61} \\u0062lind\\/trader")',
    "lines.js": b"f('the old lantern',\n  'was sold', \"to a\", `blind trader`)",
    "index.json": json.dumps({"docs": [{"text": f"\u00e9 {TEXT}"}]}).encode(),
    "escaped.json": f'{{"a": "{ESCAPED}"}}'.encode(),
    "html.json": json.dumps({"docs": [{"text": SPLIT}]}).encode(),
    "keys.json": json.dumps({TEXT: 1}).encode(),
    "words.json": json.dumps(TEXT.split()).encode(),
    "json.json": json.dumps(json.dumps({"a": SPLIT})).encode(),
    "lines.jsonl": f'{{"id": "a"}}\n{{"id": "b#c", "text": "{ESCAPED}"}}\n'.encode(),
    "map.xml.gz": gzip.compress(HTML.encode()),
    "one.z": zlib.compress(HTML.encode()),
    "many.blocks": zlib.compress(b"{}") + zlib.compress(HTML.encode()) + zlib.compress(b"[]"),
    "head.inv": b"# Header\xff\n" + zlib.compress(HTML.encode()),
    "cut.gz": gzip.compress(HTML.encode())[:-6],
    "packed.zip": zipped("page.html", HTML.encode()),
    "named.zip": zipped(f"{TEXT.replace(' ', '-')}.png", b""),
    "nested.zip": zipped("inner.zip", zipped("page.html.gz", gzip.compress(HTML.encode()))),
    "wide.txt": TEXT.encode("utf-16"),
    "wider.txt": b"\0\0\xfe\xff" + TEXT.encode("utf-32-be"),
    "unmarked.bin": TEXT.encode("utf-16-le"),
    "strings.npy": npy(["x", TEXT]),
    "not-a.png": TEXT.encode(),
    "lines.svg": b"<svg><text>the old lantern</text><text x='1'>was<tspan>sold</tspan>"
    b"<tspan>to a blind trader</tspan></text></svg>",
    "feed.rss": b"<a><b>the old lantern</b><b>was sold to a blind trader</b></a>",
    "drawing.html": b"<p>x</p><SVG><g><text>the old lantern</text><text>was sold to a blind trader"
    b"</text></g></SVG>",
    "comment-inside.html": b"<p>the old <!-- not so --> lantern was <script>f('x')</script> sold "
    b"<style>a{b:c}</style> to a blind <!-- x --> trader",
    "footnote.html": b"the old lantern<sup id='a'><a class='footnote-ref' href='#b'>1</a></sup> was"
    b" sold to a blind trader",
    "latin.csv": "d\u00e9j\u00e0;the old lantern was sold to a blind trader".encode("latin-1"),
    "packed.bz2": bz2.compress(HTML.encode()) * 2,
    "packed.tar.xz": lzma.compress(HTML.encode()),
    "packed.lzma": lzma.compress(HTML.encode(), lzma.FORMAT_ALONE),
    "cut.bz2": bz2.compress(bytes(10)) + bz2.compress(HTML.encode())[:-3],
    "deep.js": json.dumps(json.dumps({"a": json.dumps(TEXT.replace(" ", "\n"))})).encode(),
    "link-markup.html": f'<a href="?b={quote(SPLIT)}">x</a>'.encode(),
    "segments.jsonl": b"\n".join(json.dumps({"t": n, "s": t}).encode() for n, t in segments()),
    "numbered.json": json.dumps({f"cue{n}": {"text": t} for n, t in segments()}).encode(),
    "keys-apart.json": json.dumps({chr(97 + n): t for n, t in segments()}).encode(),
    "captions.sbv": timed("0:{1:02}:{2:02}.599,0:{1:02}:{2:02}.900\n{0}\n"),
    "captions.lrc": b"[ar:x]\n" + timed("[{1:02}:{2:02}.10]<{1:02}:{2:02}.10> {0}"),
    "captions.ass": b"[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, "
    b"Effect, Text\n"
    + timed(
        "Dialogue: 0,0:{1:02}:{2:02}.00,0:{1:02}:{2:02}.90,Default,,0,0,0,,{{\\i1}}{0}\\N"
    ).replace(b"sold", b"so{\\k20}ld"),
    "captions.html": timed("<li><a href='#t'>{1}:{2:02}</a> {0}</li>"),
    "captions.txt": timed("[{1:02}:{2:02}.000 --> {1:02}:{2:02}.900]   {0}"),
    "captions.ttml": timed("<p begin='00:{1:02}:{2:02}.00'>{0}</p>"),
    "lyrics.json": json.dumps({"lrc": timed("[{1:02}:{2:02}.10] {0}").decode()}).encode(),
    "named.png": zipped("page.html", HTML.encode()),
    "preamble.html": HTML.encode() + zipped("x", b"y"),
    "readme.md": b"the [old](https://x.example/y z) lantern was sold to a \\blind trader".replace(
        b"\\b", b"b"
    ),
}


def test_a_container_whose_length_looks_like_a_byte_order_mark_is_read() -> None:
    header = CONTAINER_HEADER + TEXT.encode().ljust(0xFEFF - len(CONTAINER_HEADER))
    content = struct.pack("<I", len(header)) + header
    assert content.startswith(b"\xff\xfe")
    assert places("core.bin", content)


@pytest.mark.parametrize("name", CHANNELS)
def test_text_is_found_in_every_channel(name: str) -> None:
    assert places(name, CHANNELS[name])


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("index.json", "docs[0].text"),
        ("json.json", ""),
        ("keys.json", "key 1"),
        ("lines.jsonl", "line 2 (id b#c), text"),
        ("many.blocks", "stream 2"),
        ("packed.zip", "member 2"),
        ("named.zip", "member 2, its name"),
    ],
)
def test_the_place_of_a_text_is_described(name: str, place: str) -> None:
    assert places(name, CHANNELS[name])[0] == place


@pytest.mark.parametrize("name", ["photo.png", "model.safetensors"])
def test_media_are_not_read(name: str) -> None:
    assert not places(name, b"\x89PNG\xff" + zlib.compress(TEXT.encode()))


@pytest.mark.parametrize("part", ["<!--", "<script>", "<svg><text>", "<sup><a footnote", "\\\\n"])
def test_unclosed_markup_takes_linear_time(part: str) -> None:
    assert list(extract_texts("a.html", part.encode() * 50_000))


def test_a_decompression_bomb_is_read_in_part() -> None:
    bomb = zlib.compressobj(9)
    data = b"".join(bomb.compress(bytes(2**20)) for _ in range(300)) + bomb.flush()
    content, _ = inflate_stream(data, 0, budget := InflateBudget(2**22))
    assert 2**22 <= len(content) < 2**27
    assert budget.left <= 0


# Each form of a numeric reference, with and without what may be left out of it.
FORMS = ("&#{0};", "&#{0}", "&#x{0:x};", "&#X{0:X}", "&#000{0};", "&#x000{0:x};")


def show_code(code: int) -> str:
    """Return the character that a browser shows for a numeric reference (HTML 13.2.5.80)."""
    return (
        bytes([code]).decode("cp1252", "ignore") or chr(code) if 0x80 <= code < 0xA0 else chr(code)
    )


@pytest.mark.parametrize("form", FORMS)
def test_numeric_references_of_every_code_point_are_decoded(form: str) -> None:
    codes = range(9, 0x2100)
    unread = dict.fromkeys(codes)
    # No letter of a word here may be taken for a digit of the reference before it.
    page = "\n".join(f"<p>lan{form.format(code)}tern</p>" for code in codes)
    for reading in extract_texts("a.html", page.encode()):
        lines = reading.text.split("\n")
        if len(lines) == len(codes):
            for code, line in zip(codes, lines, strict=True):
                if split_tokens(line) == split_tokens(f"lan{show_code(code)}tern"):
                    unread.pop(code, None)
    assert [hex(code) for code in unread] == []


def test_signs_of_markdown_are_not_shown() -> None:
    text = "- [x] the old[^1] :smile: lantern at 12:30:45\n\n[^1]: was *sold*\n"
    assert split_tokens(strip_markdown(text)) == "the old lantern at 12 30 45 was sold".split()


@pytest.mark.deep
@given(st.binary(max_size=400), st.sampled_from([*CHANNELS, "a.png", "b.npy", "c.zip", "d.gz"]))
def test_no_bytes_break_the_reading(data: bytes, name: str) -> None:
    for reading in [*extract_name_texts(name), *extract_texts(name, data)]:
        split_tokens(reading.text)


@pytest.mark.deep
@given(st.sampled_from(sorted(CHANNELS)), st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_no_damage_breaks_the_reading(name: str, place: int, damage: bytes) -> None:
    data = bytearray(CHANNELS[name])
    place %= len(data)
    data[place : place + len(damage)] = damage
    for reading in extract_texts(name, bytes(data)):
        split_tokens(reading.text)
