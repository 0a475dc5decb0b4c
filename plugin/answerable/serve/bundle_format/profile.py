"""Hold the weights, boosts and floors of scoring; defaults for the local and OpenAI embedders."""

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Profile:
    """Hold the scoring recipe of one embedder; a floor without its model means nothing.

    ``score = (hybrid * lexical + dense * cosine) / (hybrid + dense)``. ``floor`` applies to the
    score of a passage, ``note_floor`` to the score of a hint. With ``hybrid`` 0 the score is the
    plain cosine and the floor applies after the boosts. ``name_boost`` and ``theme_boost`` are
    added to a record when a question names it or one of its themes, ``recency`` to the
    newest one when a question is about now.

    In the hybrid recipe ``title_cosine``, ``title_share`` and ``page_words`` weigh the evidence of
    a page's title and of its best passages' words (see ``retrieval.boosts``), and ``history``
    multiplies the scores of pages of history unless a question asks for them.
    ``label_words`` weighs the words of a hint's label and locator beside its cosine.
    ``passages_per_page`` bounds the passages of one page among the evidence.
    """

    hybrid: float = 1.0
    dense: float = 0.75
    floor: float = 0.36
    note_floor: float = 0.45
    theme_fade: bool = True
    name_boost: float = 0.30
    theme_boost: float = 0.15
    recency: float = 0.10
    title_cosine: float = 0.10
    title_share: float = 0.15
    page_words: float = 0.15
    history: float = 0.8
    label_words: float = 0.20
    passages_per_page: int = 4

    def as_json(self) -> dict[str, Any]:
        """Return the profile as a manifest holds it."""
        return asdict(self)


# Of the local embedder: the lowest and the highest note floor, how many windows of notes take the
# highest one, and by how much it falls each time that there are 2.718 times fewer.
_NOTE_FLOOR_RANGE = (0.20, 0.45)
_MANY_WINDOWS = 400
_NOTE_FLOOR_STEP = 0.05


def scale_note_floor(windows: int) -> float:
    """Scale the note floor to a notebook: of few windows one comes close by chance less often.

    The greatest of n cosines by chance grows with the logarithm of n.
    """
    least, most = _NOTE_FLOOR_RANGE
    fallen = most - _NOTE_FLOOR_STEP * math.log(_MANY_WINDOWS / max(windows, 1))
    return round(min(max(fallen, least), most), 3)


# The reference's recipe, until it is calibrated: plain cosine, the floor after unfaded boosts.
OPENAI_PROFILE = Profile(hybrid=0.0, floor=0.2, note_floor=0.2, theme_fade=False)

# The floor was measured on four public question sets; the note floor on our own gold set.
LOCAL_PROFILE = Profile()
