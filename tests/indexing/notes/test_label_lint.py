"""The label lint: public fields that give a note away are refused."""

import pytest

from answerable.engine.errors import NotebookError
from answerable.indexing.notes.note_lint import lint_public_field

BODY = "The gearbox of the electric winch was taken from a scrapped tractor in the spring."


@pytest.mark.parametrize(
    "value",
    [
        "Plans for the winch",
        "pp. 120-135",
        "2024-05-01",
        "minutes of 2024-05-01 to 2024-06-30",
        "0:12:30",
        "v1.12.3",
        "10.0.0.12:8080",
        "ISBN 978-3-16-148410-0",
        "",
    ],
)
def test_a_name_or_a_place_is_accepted(value: str) -> None:
    lint_public_field(value, BODY, "label")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("ask jo@example.org", "e-mail"),
        ("https://example.org/x", "URL"),
        ("call +49 171 2345678", "phone"),
        ("call (030) 123-4567", "phone"),
        ("sk-proj-abc123def456", "secret"),
        ("2024-05-01, 0171 2345678", "phone"),
        ("a1b2c3d4e5f6a7b8c9d0e1f2", "secret"),
    ],
)
def test_a_label_with_an_address_number_url_or_secret_is_refused(value: str, what: str) -> None:
    with pytest.raises(NotebookError, match=what):
        lint_public_field(value, BODY, "winch.md: label")


def test_the_words_of_a_note_are_not_repeated_in_the_log() -> None:
    with pytest.raises(NotebookError) as caught:
        lint_public_field("why taken from a scrapped tractor", BODY, "winch.md: label")
    assert "words 2 to 6" in str(caught.value)
    assert "tractor" not in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "taken from a scrapped tractor",
        "TAKEN, from: a — scrapped *tractor*!",
        "it was taken from a scrapped",
        "__taken__ from _a_ scrapped tractor",
        "ta\u00adken from a scrap\u200bped tractor",
    ],
)
def test_five_words_in_a_row_of_the_note_are_refused(value: str) -> None:
    with pytest.raises(NotebookError, match=r"words \d to \d"):
        lint_public_field(value, BODY, "label")


def test_four_words_in_a_row_or_five_out_of_order_are_accepted() -> None:
    lint_public_field("from a scrapped tractor", BODY, "label")
    lint_public_field("tractor scrapped a from taken", BODY, "label")


JAPANESE = "電動ウインチの減速機は、廃車になったトラクターから春に外した。"
THAI = "เกียร์ของเครื่องกว้านไฟฟ้านำมาจากรถแทรกเตอร์เก่าในฤดูใบไม้ผลิ"


@pytest.mark.parametrize(
    ("value", "body"),
    [
        ("廃車になったトラクターから春に外した", JAPANESE),
        ("減速機は 廃車になった「トラクター」から", JAPANESE),
        ("ﾄﾗｸﾀｰの廃車になったﾄﾗｸﾀｰから春に外した", JAPANESE),
        ("Winch: 減速機は廃車になったトラクターから", JAPANESE),
        ("เครื่องกว้านไฟฟ้า นำมาจากรถแทรกเตอร์", THAI),
        ("ﾄﾗｸﾀｰﾄﾗｸﾀｰﾄﾗｸﾀｰ", "トラクター" * 3),
    ],
)
def test_fifteen_letters_in_a_row_are_refused_where_nothing_divides_words(
    value: str, body: str
) -> None:
    with pytest.raises(NotebookError, match=r"^a\.md: label: its words \d+ to \d+") as caught:
        lint_public_field(value, body, "a.md: label")
    assert not set(str(caught.value)) & set(body)


def test_a_label_as_long_as_a_page_is_refused() -> None:
    with pytest.raises(NotebookError, match="label has more than 300 characters"):
        lint_public_field("a" * 301, BODY, "a.md: label")
    lint_public_field("a" * 300, BODY, "a.md: label")
