"""The tables that the benchmarks print, and sums that several of them need."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

# Some benchmarks use the servers and the browser of the tests.
sys.path.append(str(Path(__file__).parents[2] / "tests"))

Row = dict[str, Any]


def print_rows(
    title: str, rows: Sequence[Row], *, as_json: bool = False, skipped: Sequence[str] = ()
) -> None:
    """Print rows as a table, or as JSON, and after them a sentence for all that was skipped."""
    if as_json:
        print(json.dumps({"rows": rows, "skipped": skipped}, indent=2))
        return
    print(f"\n{title}\n")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [columns, *([_format_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    for sentence in skipped:
        print(sentence)


def share(holds: Iterable[bool]) -> float | None:
    """Return the share of cases in which something holds, or None without cases."""
    cases = list(holds)
    return sum(cases) / len(cases) if cases else None


def find_median(numbers: Iterable[float]) -> float | None:
    """Return the median of numbers, or None without numbers."""
    listed = list(numbers)
    return float(median(listed)) if listed else None


def find_percentile(numbers: Sequence[float], percent: int) -> float:
    """Return the number that so many percent of the numbers do not exceed."""
    ordered = sorted(numbers)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def _format_cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
