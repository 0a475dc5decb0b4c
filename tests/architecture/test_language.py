"""The language of the code: breaches of its rules, which this file counts as a script, are none."""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "plugin/answerable"
SOURCES = ("plugin", "tests", "eval")

# Module names in -ing that are terms of the field.
FIELD_TERMS = frozenset(
    """encoding grounding hashing indexing packaging parsing scoring stemming streaming testing
    tracing tuning""".split()
)
VAGUE_NAMES = frozenset(
    """found told given made kept wanted asked named said held known seen chosen taken rest
    more""".split()
)
VAGUE_OPENINGS = ("What", "Whether", "How", "Where", "Which")
BARE_FUNCTIONS = frozenset({"of", "read", "check", "write", "key"})
MAX_LINES = 600
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Findings that stay, as ``path:kind:name``, each with its reason.
EXCEPTIONS: Mapping[str, str] = {
    "plugin/answerable/evaluate/gaps.py:name:asked": "a field of `gaps --json`",
    "tests/serve/http/test_wsgi.py:function:read": "the method of a file that WSGI hands over",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A breach of one rule at one place. kind: a key of ``KINDS``."""

    path: str
    line: int
    kind: str
    name: str

    @property
    def exception_key(self) -> str:
        """Identify the finding in ``EXCEPTIONS``; lines move, so they are left out."""
        return f"{self.path}:{self.kind}:{self.name}"


KINDS: Mapping[str, str] = {
    "module": "module name in -ing that is no term of the field",
    "name": "value, parameter, attribute or method with a vague name",
    "docstring": f"docstring that opens with {'/'.join(VAGUE_OPENINGS)}",
    "function": f"function named {'/'.join(sorted(BARE_FUNCTIONS))} alone",
    "class": "class name that is defined twice in the package",
    "lines": f"module of the package over {MAX_LINES} lines",
}


def source_files(root: Path = ROOT) -> Iterator[Path]:
    """Yield every Python file of this repository's own."""
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*.py")):
            if not {"node_modules", "__pycache__"} & set(path.parts):
                yield path


@cache
def list_findings(root: Path = ROOT) -> tuple[Finding, ...]:
    """List the breaches of all rules, those that ``EXCEPTIONS`` lists among them."""
    findings: list[Finding] = []
    classes: dict[str, list[Finding]] = defaultdict(list)
    for path in source_files(root):
        where = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        findings += _check_module(where, text)
        findings += _check_tree(where, tree)
        if where.startswith(PACKAGE):
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    classes[node.name].append(Finding(where, node.lineno, "class", node.name))
    for homonyms in classes.values():
        if len(homonyms) > 1:
            findings += homonyms
    return tuple(findings)


def find_dialect(root: Path = ROOT) -> list[Finding]:
    """Collect the breaches of all rules but those that ``EXCEPTIONS`` lists."""
    return [finding for finding in list_findings(root) if finding.exception_key not in EXCEPTIONS]


def _check_module(where: str, text: str) -> Iterator[Finding]:
    stem = Path(where).stem
    if stem == "__init__":
        stem = Path(where).parent.name
    word = stem.rpartition("_")[2]
    if word.endswith("ing") and word not in FIELD_TERMS and not stem.startswith("test_"):
        yield Finding(where, 1, "module", stem)
    lines = text.count("\n")
    if where.startswith(PACKAGE) and lines > MAX_LINES:
        yield Finding(where, lines, "lines", str(lines))


def _check_tree(where: str, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        for name, line in _bound_names(node):
            if name.strip("_") in VAGUE_NAMES:
                yield Finding(where, line, "name", name)
        if isinstance(node, _FUNCTIONS) and node.name in BARE_FUNCTIONS:
            yield Finding(where, node.lineno, "function", node.name)
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            opening = (ast.get_docstring(node) or "").split(maxsplit=1)[:1]
            if opening and opening[0].rstrip(",:") in VAGUE_OPENINGS:
                name = getattr(node, "name", "module")
                yield Finding(where, getattr(node, "lineno", 1), "docstring", name)


def _bound_names(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a node binds, each with its line."""
    match node:
        case ast.Name(ctx=ast.Store()):
            yield node.id, node.lineno
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr, node.lineno
        case ast.arg():
            yield node.arg, node.lineno
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name, node.lineno
        case ast.MatchStar() | ast.MatchAs() if node.name:
            yield node.name, node.lineno


def room_of(path: str) -> str:
    """Name the room of a file: two folders below plugin/answerable/serve, else one."""
    parts = Path(path).parts
    deep = parts[:1] == ("plugin",)
    end = 4 if deep and parts[2] in ("serve", "indexing", "evaluate") else 3 if deep else 2
    return "/".join(parts[: min(end, len(parts) - 1)])


def format_table(findings: Iterable[Finding], root: Path = ROOT) -> str:
    """Render a count of each kind by room, and the size of the package."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for finding in findings:
        counts[room_of(finding.path)][finding.kind] += 1
    width = max(map(len, counts), default=0)
    rows = [" ".join([" " * width, *(f"{kind:>9}" for kind in KINDS)])]
    for room, count in sorted(counts.items()):
        rows.append(" ".join([room.ljust(width), *(f"{count[kind]:>9}" for kind in KINDS)]))
    total = sum(counts.values(), Counter[str]())
    rows.append(" ".join(["all".ljust(width), *(f"{total[kind]:>9}" for kind in KINDS)]))
    sizes = [
        path.read_text(encoding="utf-8").count("\n") for path in (root / PACKAGE).rglob("*.py")
    ]
    rows.append(
        f"{PACKAGE}: {len(sizes)} modules, {sum(sizes)} lines, median {median(sizes):g}, "
        f"longest {max(sizes)}"
    )
    return "\n".join(rows)


def main(paths: list[str]) -> int:
    """Print the table, or what there is below the paths; returns 1 if there is anything."""
    findings = find_dialect()
    if paths:
        wanted_paths = tuple(path.rstrip("/") for path in paths)
        findings = [finding for finding in findings if finding.path.startswith(wanted_paths)]
        for finding in findings:
            print(f"{finding.path}:{finding.line}: {finding.kind}: {finding.name}")  # noqa: T201
    else:
        print(format_table(findings))  # noqa: T201
    return 1 if findings else 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_or_docstring_breaks_the_rules_of_the_language(kind: str) -> None:
    breaches = [
        f"{finding.path}:{finding.line}: {finding.name}"
        for finding in find_dialect()
        if finding.kind == kind
    ]
    assert breaches == [], KINDS[kind]


def test_every_exception_is_still_needed_and_has_its_reason() -> None:
    assert set(EXCEPTIONS) <= {finding.exception_key for finding in list_findings()}
    assert all(len(reason.split()) > 2 for reason in EXCEPTIONS.values())


def test_each_kind_of_breach_is_found(tmp_path: Path) -> None:
    package = tmp_path / PACKAGE
    package.mkdir(parents=True)
    (package / "telling.py").write_text(
        '"""What is told."""\n\nclass Site:\n    pass\n\n'
        "def of(kept):\n    found, *_ = kept\n    return found\n" + "\n" * MAX_LINES
    )
    (package / "sites.py").write_text("class Site:\n    pass\n")
    findings = find_dialect(tmp_path)
    assert {finding.kind for finding in findings} == set(KINDS)
    assert {finding.name for finding in findings if finding.kind == "name"} == {"kept", "found"}
    assert [finding.name for finding in findings if finding.kind == "class"] == ["Site", "Site"]


@pytest.mark.parametrize("name", ["streaming.py", "text_encoding.py", "__init__.py"])
def test_terms_of_the_field_may_end_in_ing(tmp_path: Path, name: str) -> None:
    module = tmp_path / PACKAGE / "indexing" / name
    module.parent.mkdir(parents=True)
    module.write_text('"""Encode a text as a stream."""\n')
    assert find_dialect(tmp_path) == []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
