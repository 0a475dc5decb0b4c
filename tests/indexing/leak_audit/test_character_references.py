"""Character references in published text: numeric and named ones hide no word of a note."""

import pytest

from answerable.indexing.leak_audit.audit import Artifact, audit_artifacts
from answerable.indexing.leak_audit.text_extraction import extract_texts
from answerable.indexing.leak_audit.word_runs import split_tokens
from answerable.indexing.notes.notebook import Note
from answerable.serve.errors import LeakError

# None begins with a hexadecimal digit, which a reference without a semicolon would take.
WORDS = "the old lantern was sold to your hasty trader".split()
FORMS = ("&#{0};", "&#{0}", "&#x{0:x};", "&#X{0:X}", "&#000{0};", "&#x000{0:x};")


def shown(code: int) -> str:
    """The character that a browser shows for a numeric reference (HTML 13.2.5.80)."""
    if 0x80 <= code < 0xA0:
        try:
            return bytes([code]).decode("cp1252")
        except UnicodeDecodeError:
            return chr(code)
    return chr(code)


def is_leak(body: str, published: str) -> bool:
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", body)
    page = Artifact("site/a/index.html", published.encode, "a.md")
    try:
        audit_artifacts([note], [page])
    except LeakError:
        return True
    return False


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tag", ["<p>{}</p>", '<img alt="{}">'])
def test_numeric_references_of_every_code_point_are_decoded(form: str, tag: str) -> None:
    codes = list(range(9, 0x2100))
    expected = [split_tokens(f"lan{shown(code)}tern") for code in codes]
    lines = "\n".join(tag.format(f"lan{form.format(code)}tern") for code in codes)
    decoded = dict.fromkeys(codes, False)
    for reading in extract_texts("a.html", lines.encode()):
        shown_lines = reading.text.split("\n")
        if len(shown_lines) == len(codes):
            for code, words, line in zip(codes, expected, shown_lines, strict=True):
                tokens = split_tokens(line)
                starts = range(len(tokens) - len(words) + 1)
                decoded[code] |= any(tokens[at : at + len(words)] == words for at in starts)
    assert [hex(code) for code, is_decoded in decoded.items() if not is_decoded] == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tag", ["<p>{}</p>", '<img alt="{}">', "<!-- {} -->"])
def test_words_divided_by_a_reference_to_a_space_are_found(form: str, tag: str) -> None:
    for code in (9, 10, 13, 32, 0xA0, 0x2003, 0x3000):
        published = form.format(code).join(["", *WORDS])
        assert is_leak(" ".join(WORDS), tag.format(published)), hex(code)


def test_letters_in_references_of_any_form_are_found() -> None:
    for form in FORMS:
        coded = " ".join("".join(form.format(ord(letter)) for letter in word) for word in WORDS)
        assert is_leak(" ".join(WORDS), f"<p>{coded}</p>"), form


def test_a_reference_of_thousands_of_digits_breaks_nothing() -> None:
    digits = "9" * 5000
    assert is_leak(" ".join(WORDS), f"<p>&#{digits}; &#x{digits}; {' '.join(WORDS)} &#0; &#xd800;")


def test_a_line_feed_in_a_reference_adds_no_line() -> None:
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", " ".join(WORDS))
    text = f"one&#10;two&#x0A;three&NewLine;four&#13;\n<p>{' '.join(WORDS)}</p>"
    with pytest.raises(LeakError, match=r"index\.html, line 2;"):
        audit_artifacts([note], [Artifact("site/a/index.html", text.encode, "a.md")])
