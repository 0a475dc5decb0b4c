"""The numbers of a set of verdicts, by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.evaluate.verdict import (
    Proportion,
    SourceRank,
    Verdict,
    compute_metrics,
    compute_metrics_by_tag,
)
from answerable.serve.types import MODES, Mode


def row(
    name: str,
    *,
    expected: Mode | None = None,
    mode: Mode | None = None,
    refused: bool = False,
    ranks: tuple[int | None, ...] = (),
    tags: tuple[str, ...] = (),
    claims: int = 0,
    dropped: int = 0,
) -> Verdict:
    return Verdict(
        id=name, query=f"{name}?", tags=tags, expected_modes=(expected,) if expected else (),
        issues=(), mode=mode, below_floors=refused, top=None, passage_score=0.5, hint_score=0.1,
        ranks=tuple(SourceRank("s", rank) for rank in ranks), claims=claims, dropped=dropped,
    )  # fmt: skip


ROWS = (
    row("a", expected="partial", mode="partial", ranks=(2, None), tags=("x",), claims=2),
    row("b", expected="supported", mode="partial", ranks=(1,), claims=1, dropped=1),
    row("c", expected="not-found", mode="not-found", refused=True, tags=("x",)),
    row("d", expected="not-found", mode="partial"),
    row("e", mode="not-found", refused=True, ranks=(None,)),
)


def test_metrics_equal_counts_by_hand() -> None:
    metrics = compute_metrics(ROWS)
    assert metrics.shares["recall"] == Proportion(2, 4)
    assert metrics.mrr == pytest.approx((1 / 2 + 1 + 0) / 3)
    # a as required; b in another mode; e refused though it names a source.
    assert metrics.shares["answered"] == Proportion(1, 3)
    assert metrics.shares["refused"] == Proportion(1, 2)
    assert metrics.shares["quoted"] == Proportion(3, 4)
    assert metrics.shares["passed"] == Proportion(5, 5)


def test_precision_counts_what_was_retrieved_for_queries_with_a_source() -> None:
    rows = (
        replace(ROWS[0], retrieved=8, relevant=3),
        replace(ROWS[4], retrieved=2, relevant=0),
        # Without an expected source nothing can be relevant.
        replace(ROWS[2], retrieved=8),
        # A failed call retrieved nothing that was judged.
        replace(ROWS[1], retrieved=8, relevant=8, error="embedding"),
    )
    assert compute_metrics(rows).shares["precision"] == Proportion(3, 10)
    assert compute_metrics(rows[2:3]).shares["precision"] == Proportion(0, 0)
    assert compute_metrics_by_tag(rows)["x"].shares["precision"] == Proportion(3, 8)


def test_retrieval_tier_metrics_count_refusals_by_floors() -> None:
    rows = (
        row("a", expected="partial", ranks=(1,)),
        row("b", expected="partial", refused=True, ranks=(None,)),
        row("c", expected="not-found", refused=True),
        row("d", expected="not-found"),
    )
    metrics = compute_metrics(rows)
    assert (metrics.shares["answered"], metrics.shares["refused"]) == (
        Proportion(1, 2),
        Proportion(1, 2),
    )


def test_each_tag_has_metrics_of_its_own() -> None:
    metrics = compute_metrics_by_tag(ROWS)
    assert list(metrics) == ["x"]
    assert metrics["x"].shares["passed"] == Proportion(2, 2)
    assert metrics["x"].shares["refused"] == Proportion(1, 1)


def test_metrics_of_no_verdict_have_no_value() -> None:
    metrics = compute_metrics(())
    assert metrics.mrr is None
    assert all(share.value is None for share in metrics.shares.values())
    assert metrics.as_json()["recall"]["interval"] == [0, 1]


def test_wilson_interval_equals_published_value() -> None:
    # Agresti and Coull, The American Statistician 52 (1998): 0 of 10, and 15 of 15.
    assert Proportion(0, 10).interval == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert Proportion(15, 15).interval == pytest.approx((0.7961, 1.0), abs=1e-3)


@given(st.integers(1, 500), st.data())
def test_wilson_interval_holds_its_share(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    share = Proportion(part, whole)
    low, high = share.interval
    assert share.value is not None
    assert 0 <= low <= share.value + 1e-9
    assert share.value - 1e-9 <= high <= 1
    wider_low, wider_high = Proportion(part * 10, whole * 10).interval
    assert wider_high - wider_low <= high - low + 1e-9


def test_every_mode_is_either_refused_or_not() -> None:
    assert [row("a", mode=mode).is_refused for mode in MODES] == [False, False, False, True]
