"""The engine in the browser splits and strips text at the characters that Python does."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from support.engine_process import engine
from support.fuzz_settings import fuzzed

TEXTS = st.text(
    st.sampled_from("ab \t\n\r\x0b\x1c\x1f\x85\xa0\u200b\u2003\u2028\u3000\ufeff"), max_size=12
)


def test_characters_of_white_space_are_those_of_python() -> None:
    characters = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    words = engine().call("white_space", "splitAtSpace", characters)
    assert words == characters.split()


@fuzzed(few=60)
@given(text=TEXTS)
def test_text_is_split_and_stripped_as_python_does(text: str) -> None:
    call = engine().call
    assert call("white_space", "splitAtSpace", text) == text.split()
    assert call("white_space", "stripSpace", text) == text.strip()
    assert call("white_space", "stripSpaceAtStart", text) == text.lstrip()
    assert call("white_space", "stripSpaceAtEnd", text) == text.rstrip()
    assert call("white_space", "isSpace", text) == text.isspace()
