"""The texts that are embedded, put together when they are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from .passages import Cut


@dataclass(frozen=True, slots=True)
class Texts(Sequence[str]):
    """What is embedded: passages first, then the windows of notes."""

    cuts: Sequence[Cut]
    notes: Sequence[str]

    def __len__(self) -> int:
        return len(self.cuts) + len(self.notes)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        if row < len(self.cuts):
            return self.cuts[row].retrieval_text
        return self.notes[row - len(self.cuts)]
