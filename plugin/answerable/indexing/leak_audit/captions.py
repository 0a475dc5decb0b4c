"""Published captions without their times: SBV, LRC, ASS, and a time before each cue of a page."""

import re
from itertools import islice

from .markup import SOFT_BREAK

# Hours, minutes, seconds and frames, with the fraction that may follow.
_TIME = re.compile(r"(?<![\w:])\d{1,3}(?::\d\d){1,3}(?:[.,]\d{1,3})?(?![\w:])")
# Of every time, the colon and what follows: a pattern that begins with a letter is fast.
_MINUTE = re.compile(r":\d\d(?<=\d:\d\d)")
# One time may be of anything; two may be of cues.
_FEWEST = 2
# Events of SubStation Alpha: fields before the text, which is the last one.
_EVENT = re.compile(r"^[ \t]*(?:Dialogue|Comment):", re.M)
_FORMAT = re.compile(r"^[ \t]*Format:(.*),[ \t]*Text[ \t]*\r?$", re.M)
_FIELDS = 9
_OVERRIDE = re.compile(r"\{[^{}\n]*\}")
_BREAK = re.compile(r"\\[Nnh]")


def has_caption_times(text: str) -> bool:
    """Tell whether a text may hold captions with times."""
    # Few texts have what looks like minutes, and only those are looked at closely.
    return all(
        len(list(islice(pattern.finditer(text), _FEWEST))) == _FEWEST
        for pattern in (_MINUTE, _TIME)
    )


def strip_caption_times(text: str) -> str:
    """A text of captions without times and, of SubStation Alpha, without fields and styles.

    Every line stays where it is.
    """
    if _EVENT.search(text):
        formats = _FORMAT.findall(text)
        count = formats[-1].count(",") + 1 if formats else _FIELDS
        fields = re.compile(rf"{_EVENT.pattern}(?:[^,\n]*,){{{count}}}", re.M)
        text = fields.sub("", text)
        text = _BREAK.sub(" ", _OVERRIDE.sub(SOFT_BREAK, text))
    return _TIME.sub("", text)
