"""The code window: the lines of code that are shown where there is no room for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.answers.excerpts import complete_code, cut_code

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


def test_one_line_that_is_too_long_is_cut_between_words() -> None:
    line = "x = " + "1 + " * 400
    assert cut_code(line, {}, 5, 100) == (0, 99)
    signature = "moor(" + ", ".join(f"parameter_{n}: str = None" for n in range(40)) + ")"
    code = f"    {signature}\n)\n{signature}"
    start, end = cut_code(code, {}, 5, 100)
    assert code[start:end].endswith(" parameter_3: str =")
    # What follows the line is no end of it.
    assert complete_code(code, end, {}, 4, 100) == end
    # No word ends there, so that nothing of it is quoted.
    assert cut_code("x" * 400, {}, 5, 100) == (0, 100)


def test_a_name_counts_where_it_is_used_and_not_where_it_is_imported() -> None:
    code = f"from harbor import (\n    anchor,\n    chain,\n)\n\n{CODE}\n    anchor.weigh()"
    start, end = cut_code(code, {"anchor": 1.0, "chain": 1.0}, 4, 800)
    assert code[start:end].endswith("boat.chain.drop()\n    anchor.weigh()")


def test_a_cut_takes_the_short_end_of_its_part_along() -> None:
    call = "moor(\n    boat,\n    chain=True,\n)"
    code = f"{call}\n\n{CODE}"
    assert complete_code(code, code.index("boat,") + 5, {}, 2, 100) == len(call)
    assert complete_code(code, len(call), {}, 2, 100) == len(call)
    assert complete_code(code, 5, {}, 3, 9) == 5
    assert complete_code(CODE, CODE.index("    boat.chain"), {}, 4, 100) == len(CODE)


def test_a_cut_takes_the_lines_along_that_close_its_brackets() -> None:
    code = "f(\n    g(\n        1\n    )\n)\n" + "h()\n" * 9 + "h()"
    start = code.index("1") + 1
    assert code[: complete_code(code, start, {}, 4, 100)].endswith("1\n    )\n)")
    assert complete_code(code, start, {}, 1, 100) == start + len("\n    )")


@pytest.mark.parametrize(
    "before", ["# Free the rope:", "@harbor.free", "free(", "rope = \\", "if x:"]
)
def test_a_cut_never_ends_before_the_line_that_its_last_one_leads_into(before: str) -> None:
    code = f"h()\n{before}\n    rope.free()\n" + "h()\n" * 9
    end = code.index(before) + len(before)
    assert code[: complete_code(code, end, {}, 4, 100)].endswith("    rope.free()")
    assert complete_code(code, len("h()"), {}, 4, 100) == len("h()")


def test_a_cut_never_ends_before_a_near_line_with_a_term_of_the_question() -> None:
    code = "h()\n" * 3 + "rope.free()\n" + "h()\n" * 9
    assert code[: complete_code(code, 3, {"rope": 1.0}, 4, 100)].endswith("rope.free()")
    assert complete_code(code, 3, {"rope": 1.0}, 2, 100) == 3
    assert complete_code(code, 3, {"rope": 1.0}, 4, 12) == 3
    assert complete_code(f"rope\n{code}", 8, {"rope": 1.0}, 4, 100) == 8


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


@given(LINES, st.integers(0, 200), st.integers(0, 5), st.integers(0, 60))
def test_a_completed_cut_adds_whole_lines_within_the_limits(
    lines: list[str], place: int, max_lines: int, max_characters: int
) -> None:
    code = "\n".join(lines)
    start = min(len(code), place)
    end = complete_code(code, start, {"a": 1.0}, max_lines, max_characters)
    assert start <= end <= len(code)
    assert code[start:end].count("\n") <= max_lines
    assert end - start <= max_characters
