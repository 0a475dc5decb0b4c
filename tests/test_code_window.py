"""Which lines of code are shown where there is no room for all of them."""

from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.code_window import cut_code

CODE = """import winch

boat = Boat("Ida")


def cast_off(boat):
    boat.rope.free()
    return boat


def moor(boat):
    boat.rope.tie()
    boat.chain.drop()"""


def cut(weights: dict[str, float], max_lines: int, max_characters: int = 800) -> str:
    start, end = cut_code(CODE, weights, max_lines, max_characters)
    return CODE[start:end]


def test_short_code_is_whole() -> None:
    assert cut({"moor": 1.0}, max_lines=20) == CODE


def test_the_part_that_holds_the_terms_is_shown() -> None:
    assert cut({"chain": 2.0, "drop": 1.0}, max_lines=3) == (
        "def moor(boat):\n    boat.rope.tie()\n    boat.chain.drop()"
    )


def test_without_any_term_a_window_begins_where_a_part_does() -> None:
    shown = cut({}, max_lines=4)
    assert not shown.startswith((" ", "\n"))


def test_one_line_that_is_too_long_is_cut() -> None:
    line = "x = " + "1 + " * 400
    assert cut_code(line, {}, 5, 100) == (0, 100)


LINES = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=30), min_size=1)


@given(LINES, st.integers(1, 12), st.integers(1, 200))
def test_a_window_is_a_run_of_lines_within_the_limits(
    lines: list[str], max_lines: int, max_characters: int
) -> None:
    code = "\n".join(lines)
    start, end = cut_code(code, {"a": 1.0}, max_lines, max_characters)
    assert 0 <= start <= end <= len(code)
    assert code[start:end].count("\n") < max_lines
    assert end - start <= max_characters
    assert start == 0 or code[start - 1] == "\n"
