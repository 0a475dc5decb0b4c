"""Tell the answers that two runs give differently: by text, mode and citations alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from answerable.evaluate.page import diff_words
from answerable.evaluate.report import diff_answers, diff_reports
from answerable.evaluate.verdict import NearMiss, RecordedAnswer, RecordedCitation, Verdict
from support.eval_reports import report, row

RECORD = RecordedCitation("record", "a#b", "/a/#b", "A › B", "The chain is thick.")
HINT = RecordedCitation("hint", "note:0123456789", "/a/", "Plans for the winch")


def answered(
    name: str, text: str, *citations: RecordedCitation, confidence: float = 0.5
) -> Verdict:
    return replace(row(name), answer=RecordedAnswer(text, citations, confidence))


BEFORE = answered("chain", "The chain is thick [1].", RECORD)


def parts(after: Verdict) -> tuple[str, ...]:
    changes = diff_answers([BEFORE], [after]).changed
    return changes[0].parts if changes else ()


def test_a_change_of_text_mode_or_citations_is_a_changed_answer() -> None:
    assert parts(answered("chain", "The chain is thin [1].", RECORD)) == ("text",)
    assert parts(replace(BEFORE, mode="supported")) == ("mode",)
    moved = answered("chain", "The chain is thick [1].", replace(RECORD, url="/b/#b"))
    assert parts(moved) == ("citations",)
    assert parts(answered("chain", "No.", HINT)) == ("text", "citations")


def test_confidence_scores_spaces_and_a_hint_id_are_no_change() -> None:
    assert parts(answered("chain", "The chain  is\nthick [1].", RECORD, confidence=0.9)) == ()
    assert parts(replace(BEFORE, passage_score=0.9, near_misses=(NearMiss("x", 0.1),))) == ()
    before = answered("winch", "Plans [1].", HINT)
    other_key = answered("winch", "Plans [1].", replace(HINT, id="note:9999999999"))
    assert diff_answers([before], [other_key]).unchanged == ("winch",)


def test_reworded_query_is_new_and_renamed_query_is_compared() -> None:
    reworded = replace(BEFORE, query="How thick is it?")
    diff = diff_answers([BEFORE], [reworded])
    assert (diff.new, diff.gone, diff.changed) == (("chain",), ("chain",), ())
    renamed = diff_answers([BEFORE], [replace(BEFORE, id="thickness")])
    assert (renamed.unchanged, renamed.new, renamed.gone) == (("thickness",), (), ())


def test_verdict_without_an_answer_is_not_compared() -> None:
    failed_call = replace(BEFORE, answer=None, error="the server timed out")
    assert diff_answers([BEFORE], [failed_call]).uncompared == ("chain",)
    assert diff_answers([failed_call], [BEFORE]).uncompared == ("chain",)


def test_diff_of_reports_lists_changed_answers_whatever_the_verdicts() -> None:
    changed = answered("chain", "The chain is thin [1].", RECORD)
    diff = diff_reports(report(BEFORE, row("fine")), report(changed, row("fine")))
    assert (diff.changed_answers, diff.newly_failing) == (("chain",), ())


def test_failure_that_becomes_a_known_one_is_not_newly_passing() -> None:
    failing = replace(BEFORE, issues=("answer mode 'not-found'",))
    excused = replace(failing, known_failure="the page is missing")
    assert excused.holds
    assert diff_reports(report(failing), report(excused)).newly_passing == ()
    assert diff_reports(report(failing), report(BEFORE)).newly_passing == ("chain",)


def test_change_says_whether_the_verdict_turned() -> None:
    failing = replace(BEFORE, mode="not-found", issues=("answer mode 'not-found'",))
    worse = diff_answers([BEFORE], [failing]).changed[0]
    better = diff_answers([failing], [BEFORE]).changed[0]
    assert (worse.holds_no_longer, better.holds_no_longer) == (True, False)


def test_word_diff_marks_the_words_that_differ() -> None:
    pieces = [
        (piece.text, piece.change) for piece in diff_words("It is twelve mm.", "It is ten mm.")
    ]
    assert pieces == [
        ("It is ", "same"), ("twelve ", "removed"), ("ten ", "added"), ("mm.", "same"),
    ]  # fmt: skip
    assert [
        piece.text for piece in diff_words("鎖の太さ", "鎖の長さ") if piece.change == "added"
    ] == ["長"]


WORDS = st.text(st.sampled_from("ab \n長さ"), max_size=12)


@given(WORDS, WORDS)
def test_pieces_of_word_diff_join_to_both_texts(before: str, after: str) -> None:
    pieces = diff_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.change != "removed") == after
    kept_words = "".join(piece.text for piece in pieces if piece.change != "added")
    assert "".join(kept_words.split()) == "".join(before.split())
    assert {piece.change for piece in diff_words(after, after)} <= {"same"}
