"""Share what the benchmarks have in common: arguments, data sets and printed tables."""

import argparse
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]

DATA = Path(__file__).parents[3] / "shared" / "data"


class DataError(Exception):
    """A data set lacks what a benchmark needs: one sentence that names the file or the field."""


@dataclass(frozen=True, slots=True)
class Results:
    """The rows of the data sets that were measured, and a sentence for each that was skipped."""

    rows: Sequence[Row]
    skipped: Sequence[str] = ()


def main(title: str, measure: Callable[[Path], Results]) -> None:
    """Run one benchmark over a data folder and print its table, or JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=title)
    default = Path(os.environ.get("ANSWERABLE_DATA") or DATA)
    parser.add_argument("--data", type=Path, default=default, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.data.is_dir():
        results = measure(arguments.data)
    else:
        reason = f"skipped, no data at {arguments.data} (set ANSWERABLE_DATA or --data)"
        results = Results((), (f"{title}: {reason}",))
    print_rows(title, results.rows, as_json=arguments.json, skipped=results.skipped)


def measure_each(
    sets: Iterable[Path], measure: Callable[[Path], Row], missing: str = "no data set"
) -> Results:
    """Measure each data set, and skip with a sentence each that lacks what is needed.

    sets: the file or folder of each, named after it. missing: the sentence where there is none.
    """
    rows, skipped = [], []
    for path in sets:
        try:
            rows.append(measure(path))
        except DataError as error:
            skipped.append(f"{path.stem if path.is_file() else path.name}: skipped, {error}")
    return Results(rows, skipped or ([] if rows else [f"skipped, {missing}"]))


def folders(parent: Path) -> list[Path]:
    """List the folders in a folder, by name; none if it does not exist."""
    return sorted(path for path in parent.glob("*/") if not path.name.startswith("."))


def print_rows(
    title: str, rows: Sequence[Row], *, as_json: bool, skipped: Sequence[str] = ()
) -> None:
    """Print rows as a table, or as JSON, and what was skipped after them.

    Rows within rows are a table of their own, under their name and with the ``set`` they are of.
    """
    if as_json:
        print(json.dumps({"rows": rows, "skipped": skipped}, indent=2))
        return
    print(f"\n{title}\n")
    _table([{key: value for key, value in row.items() if not _is_rows(value)} for row in rows])
    for key in dict.fromkeys(key for row in rows for key in row if _is_rows(row[key])):
        print(f"\n{key}\n")
        _table([{"set": row["name"], **inner} for row in rows for inner in row.get(key, ())])
    for sentence in skipped:
        print(sentence)


def _is_rows(value: object) -> bool:
    return isinstance(value, list)


def no_fields(row: Row) -> Iterable[str]:
    """Require no field of a row."""
    del row
    return ()


def read_lines(path: Path, required: Callable[[Row], Iterable[str]] = no_fields) -> list[Row]:
    """Parse a file of JSON lines; DataError if it is absent or malformed, or lacks a field.

    required: the fields that a row must have.
    """
    try:
        # Not splitlines(): a JSON string may hold U+2028.
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8") from None
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _parse(line, f"{path}, line {number}")
            absent = next((field for field in required(row) if field not in row), None)
            if absent is not None:
                raise DataError(f"{path}, line {number} lacks the field {absent!r}")
            rows.append(row)
    return rows


def _parse(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"{place} is not a JSON object")
    return row


def _table(rows: Sequence[Row]) -> None:
    if not rows:
        return
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(columns))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
