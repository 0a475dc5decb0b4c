"""The size of the package: lines of code by room, which may only fall.

``python tests/architecture/test_house_size.py`` prints the table. Raising a number in ``RECORDED``
needs a reason in the same commit; a number that has fallen is written down in the commit that made
it fall, so that it cannot rise again unseen.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugin" / "answerable"
# Lines of code by room, without blank lines, comments and docstrings.
RECORDED: dict[str, int] = {
    "answerable": 59,
    "cli": 3_828,
    "evaluate": 3_672,
    "indexing": 1_606,
    "indexing/browser_index": 930,
    "indexing/html_site": 520,
    "indexing/leak_audit": 1_082,
    "indexing/notes": 806,
    "indexing/output": 531,
    "indexing/packaging": 583,
    "indexing/pages": 1_418,
    "indexing/site_hosts": 158,
    "indexing/widget": 392,
    "mkdocs": 2_175,
    "postgres": 1_058,
    "serve": 1_298,
    "serve/answers": 1_812,
    "serve/bundle_format": 870,
    "serve/embedders": 323,
    "serve/http": 2_588,
    "serve/limits": 677,
    "serve/retrieval": 1_254,
    "serve/stores": 394,
    "serve/text": 237,
    "testing": 296,
    "widget": 404,
    "widget/ask-box": 1_238,
    "widget/engine": 2_734,
}
# A recorded number may lie this share above the measured one before it has to be lowered.
SLACK = 0.01
MAX_LINES = 40_438
MAX_MODULES = 158
MAX_MODULE_LINES = 600
MAX_JAVASCRIPT_LINES = 7_902

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
_JAVASCRIPT_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.DOTALL | re.MULTILINE)


def list_modules() -> list[Path]:
    """List the Python modules of the package."""
    return sorted(path for path in PACKAGE.rglob("*.py"))


def list_scripts() -> list[Path]:
    """List the JavaScript of our own, without the stemmers of Snowball."""
    scripts = (PACKAGE / "widget").rglob("*.js")
    return sorted(path for path in scripts if "snowball" not in path.parts)


def count_code_lines(text: str) -> int:
    """Count the lines of a Python text that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def count_script_lines(text: str) -> int:
    """Count the lines of a JavaScript text that hold more than comments."""
    return sum(bool(line.strip()) for line in _JAVASCRIPT_COMMENT.sub("", text).splitlines())


def name_room(path: Path) -> str:
    """Name the room of a file: its first folder, and its second where the first one has some."""
    folders = path.relative_to(PACKAGE).parts[:-1]
    return "/".join(folders[:2]) or "answerable"


def measure_rooms() -> Counter[str]:
    """Count the lines of code by room."""
    rooms: Counter[str] = Counter()
    for path in list_modules():
        rooms[name_room(path)] += count_code_lines(path.read_text(encoding="utf-8"))
    for path in list_scripts():
        rooms[name_room(path)] += count_script_lines(path.read_text(encoding="utf-8"))
    return rooms


def format_rooms(measured: Counter[str]) -> str:
    """Format the table of rooms as the literal of ``RECORDED``."""
    rows = [f'    "{room}": {lines:_},' for room, lines in sorted(measured.items())]
    return "\n".join(["RECORDED: dict[str, int] = {", *rows, "}"])


def test_no_room_grows_and_each_gain_is_recorded() -> None:
    measured = measure_rooms()
    print(format_rooms(measured))  # noqa: T201
    rooms = sorted({*measured, *RECORDED})
    grown = {room for room in rooms if measured[room] > RECORDED.get(room, 0)}
    stale = {room for room in rooms if measured[room] < (1 - SLACK) * RECORDED.get(room, 0)}
    assert not grown, f"these rooms have grown: {sorted(grown)}"
    assert not stale, f"these rooms have shrunk, so lower their numbers: {sorted(stale)}"


def test_package_stays_one_house() -> None:
    sizes = {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8").count("\n")
        for path in list_modules()
    }
    modules = {name: lines for name, lines in sizes.items() if not name.endswith("__init__.py")}
    assert sum(sizes.values()) <= MAX_LINES
    assert len(modules) <= MAX_MODULES
    assert [name for name, lines in sizes.items() if lines > MAX_MODULE_LINES] == []
    scripts = (path.read_text(encoding="utf-8").count("\n") for path in list_scripts())
    assert sum(scripts) <= MAX_JAVASCRIPT_LINES


def test_only_code_is_counted() -> None:
    text = (
        '"""Say it."""\n\n# Why.\nvalue = """a\n\nb"""\n\n\ndef act():\n    """Act."""\n    pass\n'
    )
    assert count_code_lines(text) == 5
    assert count_script_lines("/** Say it.\n */\n// Why.\nlet a;\n\nlet b; // kept\n") == 2


if __name__ == "__main__":
    print(format_rooms(measure_rooms()))  # noqa: T201
