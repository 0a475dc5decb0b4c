"""Strategies of texts that are read differently by those who do not know Unicode well."""

from hypothesis import strategies as st

# Cases, sigmas, composed and full-width letters, digits of all kinds, scripts without spaces,
# marks, emoji, controls, blanks, typography, and what frames of questions and names are made of.
_PIECES = (
    "a b c A B Z É e\u0301 ß ẞ İ ı i̇ ſ K Å ﬁ ǅ Σ σ ς ΑΣ Я ё Ⅷ ½ ² ① ٣ ๓ 𝟗 𝐀 Ａ ｆ ７ ㊷ ª µ 𐐀 𐐨 𠮷 "
    "日本 語 カ ガ ﾊﾟ ไทย ที่ နိုင် ខ្មែរ 한 \u1100\u1161 \u3164 \u115f \u2800 हिन् עב ال 🚀 👩\u200d💻 "
    "\ufe0f \u200b \u00ad \u202e \u2067 \ufeff \ue000 \U000e0100 \U0010ffff _ __ * ** ` `` ' ’ “ » "
    "‐ — − . ? ! , : / ( ) - … getValue HTTPServer2 parse_url running inter flies"
).split(" ")
_SPACES = (
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "\x0b",
    "\x1c",
    "\x1f",
    "\x85",
    "\xa0",
    "\u2028",
    "\u3000",
)
_CONTROLS = ("\x00", "\x07", "\x1b", "\x7f", "\x9f", "\ud800")


def odd_texts(words: str = "", max_size: int = 12) -> st.SearchStrategy[str]:
    """Make texts of odd pieces, any characters, and some words of the test's own."""
    pieces = st.sampled_from((*_PIECES, *_SPACES, *_CONTROLS, *words.split()))
    letters = st.characters(exclude_categories=("Cs", "Cn"))
    parts = st.one_of(pieces, pieces, pieces, letters)
    return st.builds(str.join, st.sampled_from(("", " ")), st.lists(parts, max_size=max_size))
