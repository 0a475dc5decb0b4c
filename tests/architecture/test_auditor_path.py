"""The files that docs/architecture.md names to an auditor: complete, short and self-contained."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from support import sites

PACKAGE = sites.ROOT / "plugin" / "answerable"
PAGE = sites.ROOT / "docs" / "architecture.md"
MAX_FILES = 7
MAX_LINES = 620


def auditor_section() -> str:
    text = PAGE.read_text(encoding="utf-8")
    (section,) = re.findall(r"^## What an auditor reads$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return str(section)


def documented_lines() -> dict[str, int]:
    """The files of the path, and the number of lines that the page gives for each."""
    rows = re.findall(r"^\| `((?:serve|indexing)/[\w/]+\.py)` \| (\d+) \|", auditor_section(), re.M)
    return {name: int(lines) for name, lines in rows}


def trusted_files() -> set[str]:
    """The files that the page asks an auditor to trust."""
    return set(
        re.findall(r"^\| `((?:serve|indexing)/[\w/]+\.py)` \| (?!\d)", auditor_section(), re.M)
    )


def imported_modules(path: Path) -> Iterator[str]:
    """Every module that a file imports: its path in the package if it is ours, else its name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            files = [folder] if node.module else []
            if not folder.with_suffix(".py").is_file():
                files = [folder / alias.name for alias in node.names]
            yield from (file.relative_to(PACKAGE).as_posix() + ".py" for file in files)


def test_the_auditor_path_is_as_long_as_documented_and_within_its_bounds() -> None:
    documented = documented_lines()
    lengths = {name: len((PACKAGE / name).read_text("utf-8").splitlines()) for name in documented}
    assert lengths == documented, "docs/architecture.md tells other numbers of lines"
    assert len(lengths) <= MAX_FILES
    assert sum(lengths.values()) <= MAX_LINES
    assert f"{sum(lengths.values())} lines" in auditor_section()
    assert {
        "serve/types.py",
        "serve/answers/contract.py",
        "indexing/notes/routing_hints.py",
    } <= lengths.keys()


def test_the_auditor_path_imports_only_itself_and_the_files_named_as_trusted() -> None:
    path, trusted = set(documented_lines()), trusted_files()
    imported: set[str] = set()
    for name in path:
        for module in imported_modules(PACKAGE / name):
            if module.endswith(".py"):
                assert module in path | trusted, f"{name} imports {module}"
                imported.add(module)
            else:
                assert module.partition(".")[0] in sys.stdlib_module_names, f"{name}: {module}"
    assert trusted <= imported, "docs/architecture.md trusts what the path does not use"


def test_an_index_hands_notes_to_routing_hints_alone() -> None:
    tree = ast.parse((PACKAGE / "indexing" / "index.py").read_text(encoding="utf-8"))
    (build,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "build_index")
    calls = [
        ast.unparse(node.func)
        for node in ast.walk(build)
        if isinstance(node, ast.Call)
        and any(isinstance(arg, ast.Name) and arg.id == "notes" for arg in node.args)
    ]
    uses = [n for n in ast.walk(build) if isinstance(n, ast.Name) and n.id == "notes"]
    assert calls == ["embed_passages_and_notes"]
    assert len(uses) == 1


def test_claims_answers_and_replies_are_made_in_the_auditor_path_alone() -> None:
    makers = {
        path.relative_to(PACKAGE).as_posix()
        for path in (PACKAGE / "serve").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"Claim", "Answer", "Reply"}
    }
    assert makers <= set(documented_lines())
