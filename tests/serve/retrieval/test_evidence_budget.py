"""The budget of evidence, in characters."""

from answerable.serve.retrieval import selection
from answerable.serve.retrieval.selection import find_budget_limits, fit_budget
from answerable.serve.types import Evidence, Passage, RoutingHint

HINT = RoutingHint("note:1", "Winch", "", "/mooring/")


def passage(name: str, record: str, size: int) -> Passage:
    return Passage(name, record, f"/{record}/", "", "x" * size)


def fitted_ids(*passages: Passage, total: int = 100, per_record: int = 40) -> list[str]:
    fitted = fit_budget(Evidence(passages, (HINT,), 0.2), total, per_record)
    assert (fitted.hints, fitted.lead) == ((HINT,), 0.2)
    return [item.id for item in fitted.passages]


def test_evidence_within_the_budget_is_unchanged() -> None:
    evidence = Evidence((passage("a", "r", 30), passage("b", "s", 30)), (HINT,))
    assert fit_budget(evidence, 100, 40) is evidence


def test_over_the_budget_the_lowest_passages_are_dropped_whole() -> None:
    assert fitted_ids(passage("a", "r", 40), passage("b", "s", 40), passage("c", "t", 40)) == [
        "a",
        "b",
    ]


def test_a_small_passage_still_fits_after_a_large_one_did_not() -> None:
    assert fitted_ids(passage("a", "r", 60), passage("b", "s", 60), passage("c", "t", 20)) == [
        "a",
        "c",
    ]


def test_one_record_cannot_use_the_whole_budget() -> None:
    fitting = fitted_ids(passage("a", "r", 30), passage("b", "r", 30), passage("c", "s", 30))
    assert fitting == ["a", "c"]


def test_a_records_best_passage_is_not_lost_to_its_own_share() -> None:
    assert fitted_ids(passage("a", "r", 90)) == ["a"]
    assert fitted_ids(passage("a", "r", 101)) == []


def test_each_limit_is_named() -> None:
    passages = [
        passage("a", "r", 30), passage("b", "r", 30), passage("c", "s", 90), passage("d", "t", 70),
    ]  # fmt: skip
    assert find_budget_limits(passages, 100, 40) == (None, "record-budget", "budget", None)
    assert fitted_ids(*passages) == ["a", "d"]


def test_the_defaults_are_those_of_the_manual() -> None:
    assert (selection.MAX_EVIDENCE_CHARACTERS, selection.MAX_RECORD_CHARACTERS) == (24_000, 6_000)
