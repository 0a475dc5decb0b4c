"""The engine in the browser counts texts by code points, as Python does."""

from hypothesis import given
from hypothesis import strategies as st

from support.engine_process import engine

TEXTS = st.text(
    st.sampled_from("ab\u00e9\u0e01\ue000\uffff🚀\U0001f680\U0010ffff\u0301"), max_size=8
)


@given(text=TEXTS)
def test_code_points_are_counted_as_len_counts_them(text: str) -> None:
    assert engine().call("code_points", "countCodePoints", text) == len(text)


@given(before=TEXTS, after=TEXTS)
def test_offset_in_units_becomes_an_offset_in_code_points(before: str, after: str) -> None:
    units = len(before.encode("utf-16-le")) // 2
    offset = engine().call("code_points", "codePointOffset", before + after, units)
    assert offset == len(before)
