"""What somebody else wrote, as it may be shown."""

import re

# White space among the control characters; U+0085 is a line's end in C1.
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85]+")
# C0, DEL and C1, what turns the direction of the text around it, and halves of a code point.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def clean(text: str) -> str:
    """A text without control characters, bidirectional overrides and lone surrogates.

    Tabs and line ends become a space, the others nothing.
    """
    return _UNSEEN.sub("", _BREAKS.sub(" ", text))
