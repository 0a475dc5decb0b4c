"""Written answers on the terminal: their grade, and no Markdown in the words of a model."""

from contextlib import redirect_stdout
from io import StringIO

from answerable.cli.render import print_reply
from answerable.engine.text.markdown_writer import escape_markdown
from answerable.engine.types import Answer, Claim, Confidence, RecordCitation, Reply

CITATION = RecordCitation("rope", "/rope/", "Rope", "A rope holds.")


def printed(text: str, confidence: Confidence = "high", *, complete: bool = True) -> str:
    """What a reader sees of a model's sentence, without its source."""
    answer = Answer((Claim(text, (CITATION,), escape_markdown(text)),), complete=complete)
    with redirect_stdout(StringIO()) as shown:
        print_reply(Reply(answer, confidence, written=True), "")
    return shown.getvalue().partition("\n\n[1] Rope")[0]


def test_grade_is_that_of_written_answer() -> None:
    assert printed("It holds.") == "Answer\n\nIt holds [1]."
    # A claim was dropped.
    assert printed("It holds.", "medium") == "Answer in part\n\nIt holds [1]."
    sentence = "The pages found answer this in part."
    assert printed("It holds.", "medium", complete=False) == (
        f"Answer in part\n{sentence}\n\nIt holds [1]."
    )


def test_sources_of_one_address_are_one_source() -> None:
    quotes = [RecordCitation(f"rope~{n}", "/rope/", "Rope", f"Quote {n}.") for n in (1, 2)]
    claims = Claim("A.", (*quotes, CITATION), "A."), Claim("B.", (quotes[1],), "B.")
    with redirect_stdout(StringIO()) as shown:
        print_reply(Reply(Answer(claims), "high", written=True), "")
    assert shown.getvalue().endswith("A [1]. B [1].\n\n[1] Rope  /rope/\n")
