"""Every way that a file gives text away is read, and no bytes break the reading."""

import gzip
import io
import json
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.build import readings
from answerable.build.markup import plain
from answerable.build.runs import tokens

TEXT = "the old lantern was sold to a blind trader"
HTML = f"<p>{TEXT}</p>"


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


def places(name: str, data: bytes) -> list[str]:
    return [
        reading.place
        for reading in readings.read(name, data)
        if f" {TEXT} " in f" {' '.join(tokens(reading.text))} "
    ]


SPLIT = "<p>the <em>old</em> lan<b>tern</b> was</p><p>sold to<br>a bli<wbr>nd trader</p>"
ESCAPED = "".join(f"\\u{ord(c):04x}" for c in TEXT)
CHANNELS = {
    "plain.txt": TEXT.encode(),
    "no-suffix": TEXT.upper().encode(),
    "tags.html": SPLIT.encode(),
    "quoted.html": b'<p>the old <a title="5 > 4">lantern</a> was sold to a blind trader',
    "attribute.html": f'<img alt="{TEXT}">'.encode(),
    "comment.html": b"<!-- <p>the old <b>lantern</b> was sold to a blind trader</p> -->",
    "script.html": f'<script>let a = "{ESCAPED}"</script>'.encode(),
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
    "readme.md": b"the [old](https://x.example/y z) lantern was sold to a \\blind trader".replace(
        b"\\b", b"b"
    ),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_text_is_found_in(name: str) -> None:
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
def test_the_place_is_told(name: str, place: str) -> None:
    assert places(name, CHANNELS[name])[0] == place


def test_a_key_that_is_prose_is_counted() -> None:
    data = json.dumps({"a": 1, "what the note says of it": [TEXT]}).encode()
    assert places("a.json", data)[0] == "{2}[0]"


@pytest.mark.parametrize("name", ["photo.png", "model.safetensors"])
def test_media_are_not_read(name: str) -> None:
    assert not places(name, b"\x89PNG\xff" + zlib.compress(TEXT.encode()))


def test_numbers_are_not_read() -> None:
    stream = io.BytesIO()
    np.save(stream, np.frombuffer(TEXT.encode(), dtype=np.uint8))
    assert not list(readings.read("codes.npy", stream.getvalue()))


def test_what_inflates_without_end_is_read_in_part() -> None:
    bomb = zlib.compressobj(9)
    data = b"".join(bomb.compress(bytes(2**20)) for _ in range(300)) + bomb.flush()
    content, _ = readings._inflate(data, 0, budget := readings._Budget(2**22))
    assert 2**22 <= len(content) < 2**27
    assert budget.left <= 0


@pytest.mark.parametrize(
    "name",
    [
        "site/the-old-lantern-was-sold-to-a-blind-trader/index.html",
        "site/the_old_lantern/was_sold_to_a_blind_trader.png",
        "site/the%20old%20lantern%20was%20sold%20to%20a%20blind%20trader.pdf",
    ],
)
def test_a_name_is_read(name: str) -> None:
    assert any(TEXT in " ".join(tokens(reading.text)) for reading in readings.names(name))


def test_plain_markdown_is_what_a_page_shows() -> None:
    text = (
        "```python\nthe [old][1] ![lan](a.png)tern\n```\n1. was **so**ld <b>to</b> [a](x(y))\n"
        '!!! note "blind"\n    tr\\_ader &amp; son{ .wide }\n\n[1]: https://x.example\n'
    )
    assert tokens(plain(text)) == "the old lantern was sold to a blind tr_ader son".split()


@given(st.binary(max_size=400), st.sampled_from([*CHANNELS, "a.png", "b.npy", "c.zip", "d.gz"]))
def test_no_bytes_break_the_reading(data: bytes, name: str) -> None:
    for reading in [*readings.names(name), *readings.read(name, data)]:
        tokens(reading.text)


@given(st.sampled_from(sorted(CHANNELS)), st.integers(0, 400), st.binary(min_size=1, max_size=3))
def test_no_damage_breaks_the_reading(name: str, place: int, damage: bytes) -> None:
    data = bytearray(CHANNELS[name])
    place %= len(data)
    data[place : place + len(damage)] = damage
    for reading in readings.read(name, bytes(data)):
        tokens(reading.text)
