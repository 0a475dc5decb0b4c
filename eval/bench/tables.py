"""What the benchmarks share: their arguments, their data and how they print."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_DEFAULT = Path(__file__).parents[3] / "shared" / "data"


def main(title: str, rows: Callable[[Path], list[Row]]) -> None:
    """Run one benchmark over a data folder and print its table, or JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=title)
    default = Path(os.environ.get("ANSWERABLE_DATA") or _DEFAULT)
    parser.add_argument("--data", type=Path, default=default, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"{title}: skipped, no data at {arguments.data} (set ANSWERABLE_DATA or --data)")
        sys.exit(0)
    found = rows(arguments.data)
    print_rows(title, found, as_json=arguments.json)


def print_rows(title: str, found: Sequence[Row], *, as_json: bool) -> None:
    """Print rows as a table, or as JSON.

    Rows within rows are a table of their own, under their name and with the ``set`` they are of.
    """
    if as_json:
        print(json.dumps({"rows": found}, indent=2))
        return
    print(f"\n{title}\n")
    _table([{key: value for key, value in row.items() if not _is_rows(value)} for row in found])
    for key in dict.fromkeys(key for row in found for key in row if _is_rows(row[key])):
        print(f"\n{key}\n")
        _table([{"set": row["name"], **inner} for row in found for inner in row.get(key, ())])


def _is_rows(value: object) -> bool:
    return isinstance(value, list)


def read_lines(path: Path) -> list[Row]:
    """The objects of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _table(rows: Sequence[Row]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(columns))]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
