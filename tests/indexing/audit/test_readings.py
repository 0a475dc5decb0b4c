"""Every way that a file gives text away is read, and no bytes break the reading."""

import base64
import gzip
import io
import json
import zipfile
import zlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.index.format import Container, pack_container
from answerable.indexing.audit.readings import (
    INFLATE_LIMIT,
    decode_escapes,
    read_file,
    read_name,
    strip_markdown,
)
from answerable.indexing.audit.runs import cut_notes
from answerable.indexing.notes.notebook import Note
from answerable.indexing.word_runs import RunIndex, split_words

TEXT = "the old lantern was sold to a blind trader"
HTML = f"<p>{TEXT}</p>"


def zipped(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.txt", "nothing")
        archive.writestr(name, data)
    return stream.getvalue()


def deflated(data: bytes, wbits: int) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return stream.compress(data) + stream.flush()


OWNERS = cut_notes([Note("a.md", "note:1", "Plans", "", "a.md", "", TEXT)])
RUNS = RunIndex(OWNERS)


def places(name: str, data: bytes) -> list[str]:
    """List the places of a file in which the whole text is read."""
    return [
        reading.place
        for reading in read_file(name, data)
        if {run for _, run in RUNS.find(reading.text)} == set(OWNERS)
    ]


SPLIT = "<p>the <em>old</em> lan<b>tern</b> was</p><p>sold to<br>a bli<wbr>nd trader</p>"
ESCAPED = "".join(f"\\u{ord(c):04x}" for c in TEXT)
# As a url has it, and as the files of draw.io have it.
KROKI = base64.urlsafe_b64encode(zlib.compress(f"note as A\n{TEXT}\nend note".encode())).decode()
DRAW_IO = base64.b64encode(deflated(quote(f"<a value='{SPLIT}'>").encode(), -15)).decode()
CHANNELS = {
    "plain.txt": TEXT.encode(),
    "tags.html": SPLIT.encode(),
    "quoted.html": b'<p>the old <a title="5 > 4">lantern</a> was sold to a blind trader',
    "attribute.html": f'<img alt="{TEXT}">'.encode(),
    "comment.html": b"<!-- <p>the old <b>lantern</b> was sold to a blind trader</p> -->",
    "spans.html": "".join(f"<span>{word}</span>" for word in TEXT.split()).encode(),
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
    "json.json": json.dumps(json.dumps({"a": SPLIT})).encode(),
    "lines.jsonl": f'{{"id": "a"}}\n{{"id": "b#c", "text": "{ESCAPED}"}}\n'.encode(),
    "map.xml.gz": gzip.compress(HTML.encode()),
    "one.z": zlib.compress(HTML.encode()),
    "many.blocks": zlib.compress(b"{}") + zlib.compress(HTML.encode()) + zlib.compress(b"[]"),
    "head.inv": b"# Header\xff\n" + zlib.compress(HTML.encode()),
    "cut.gz": gzip.compress(HTML.encode())[:-6],
    "packed.zip": zipped("page.html", HTML.encode()),
    # Not an archive, though it ends as one does.
    "note.html": HTML.encode() + b"PK\x05\x06",
    "named.zip": zipped(f"{TEXT.replace(' ', '-')}.png", b""),
    "wide.txt": TEXT.encode("utf-16"),
    "lines.svg": b"<svg><text>the old lantern</text><text x='1'>was<tspan>sold</tspan>"
    b"<tspan>to a blind trader</tspan></text></svg>",
    "feed.rss": b"<a><b>the old lantern</b><b>was sold to a blind trader</b></a>",
    "drawing.html": b"<p>x</p><SVG><g><text>the old lantern</text><text>was sold to a blind trader"
    b"</text></g></SVG>",
    "comment-inside.html": b"<p>the old <!-- not so --> lantern was <script>f('x')</script> sold "
    b"<style>a{b:c}</style> to a blind <!-- x --> trader",
    "latin.csv": "d\u00e9j\u00e0;the old lantern was sold to a blind trader".encode("latin-1"),
    "numbers.bin": bytes(range(200)) + HTML.encode() + b"\xff\0",
    "pack.bin": pack_container(Container({"passages": ["\u00e9", HTML]})),
    "kroki.html": f"<img src='https://kroki.io/plantuml/svg/{KROKI}'>".encode(),
    "drawio.html": f"<a href='https://viewer.diagrams.net/#R{quote(DRAW_IO, safe='')}'>".encode(),
    "page.drawio": f"<mxfile><diagram id='a'>{DRAW_IO}</diagram></mxfile>".encode(),
    "twice.html": f"<a href='?b={quote(quote(SPLIT))}'>&amp;lt;b&amp;gt;</a>".encode(),
    "twice.xml": b"the old &amp;lt;b&amp;gt;lantern&amp;nbsp;was sold to a blind trader",
    "deep.js": json.dumps(json.dumps({"a": json.dumps(TEXT.replace(" ", "\n"))})).encode(),
    "link-markup.html": f'<a href="?b={quote(SPLIT)}">x</a>'.encode(),
    "readme.md": b"the [old](https://x.example/y z) lantern was sold to a \\blind trader".replace(
        b"\\b", b"b"
    ),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_text_is_found_in_every_channel(name: str) -> None:
    assert places(name, CHANNELS[name])


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("index.json", ""),
        ("attribute.html", "a tag"),
        ("many.blocks", "a compressed part"),
        ("packed.zip", "member 2"),
        ("named.zip", "member 2, its name"),
        ("kroki.html", "its base64"),
    ],
)
def test_the_place_of_a_text_is_described(name: str, place: str) -> None:
    assert places(name, CHANNELS[name])[0] == place


def test_media_are_not_read() -> None:
    assert not places("model.safetensors", b"\x89PNG\xff" + zlib.compress(TEXT.encode()))


@pytest.mark.parametrize("part", ["<!--", "<script>", "<svg><text>", "&amp;", "\\\\n", "%25", "A/"])
def test_unclosed_markup_takes_linear_time(part: str) -> None:
    assert list(read_file("a.html", part.encode() * 50_000))


def test_a_decompression_bomb_is_read_in_part() -> None:
    bomb = zlib.compressobj(9)
    data = b"".join(bomb.compress(b"a" * 2**20) for _ in range(300)) + bomb.flush()
    read = sum(len(reading.text) for reading in read_file("a.z", data))
    assert INFLATE_LIMIT <= read < 2 * INFLATE_LIMIT


@pytest.mark.parametrize(
    ("escape", "shown"),
    [
        ("&#233;", "\u00e9"), ("&#xE9", "\u00e9"), ("&#X000e9;", "\u00e9"), ("&eacute;", "\u00e9"),
        ("&#128;", "\u20ac"), ("&#0;", "\ufffd"), ("&NewLine;", " "), ("&#1001", "\u03e9"),
        ("\\u00e9", "\u00e9"), ("\\u{1F600}", "\U0001f600"), ("\\xbf", "\xbf"),
        ("\\n", " "), ("%C3%A9", "\u00e9"), ("%20%0A", "  "),
    ],
)  # fmt: skip
def test_escapes_of_every_form_are_decoded(escape: str, shown: str) -> None:
    assert decode_escapes(f"x{escape}y") == f"x{shown}y"


def test_signs_of_markdown_are_not_shown() -> None:
    text = "- [x] the old[^1] :smile: lantern at 12:30:45\n\n[^1]: was *sold*\n"
    assert split_words(strip_markdown(text)) == "the old lantern at 12 30 45 was sold".split()


@pytest.mark.deep
@given(st.binary(max_size=400), st.sampled_from([*CHANNELS, "a.png", "b.npy", "c.zip", "d.gz"]))
def test_no_bytes_break_the_reading(data: bytes, name: str) -> None:
    for reading in [*read_name(name), *read_file(name, data)]:
        split_words(reading.text)


@pytest.mark.deep
@given(st.sampled_from(sorted(CHANNELS)), st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_no_damage_breaks_the_reading(name: str, place: int, damage: bytes) -> None:
    data = bytearray(CHANNELS[name])
    place %= len(data)
    data[place : place + len(damage)] = damage
    for reading in read_file(name, bytes(data)):
        split_words(reading.text)
