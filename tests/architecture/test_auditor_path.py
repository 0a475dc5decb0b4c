"""The files that docs/architecture.md names to an auditor: they exist, are short, and are all."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from support import sites

PACKAGE = sites.ROOT / "plugin" / "answerable"
MOST = 600
PAGE = sites.ROOT / "docs" / "architecture.md"


def section() -> str:
    text = PAGE.read_text(encoding="utf-8")
    (found,) = re.findall(r"^## What an auditor reads$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return str(found)


def read() -> dict[str, int]:
    """The files of the path and how many lines the page says they have."""
    rows = re.findall(r"^\| `((?:serve|build)/\w+\.py)` \| (\d+) \|", section(), re.M)
    return {name: int(lines) for name, lines in rows}


def trusted() -> set[str]:
    """The modules that the page asks to be trusted."""
    return set(re.findall(r"^\| `((?:serve|build)/\w+\.py)` \| (?!\d)", section(), re.M))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports: of our own the path in the package, else its name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)
        elif isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            files = [folder] if node.module else []
            if not folder.with_suffix(".py").is_file():
                files = [folder / each.name for each in node.names]
            yield from (file.relative_to(PACKAGE).as_posix() + ".py" for file in files)


def test_the_path_is_there_and_short() -> None:
    named = read()
    found = {name: len((PACKAGE / name).read_text("utf-8").splitlines()) for name in named}
    assert found == named, "docs/architecture.md tells other numbers of lines"
    assert sum(found.values()) <= MOST
    assert f"{sum(found.values())} lines" in section()
    assert {
        "serve/types.py",
        "serve/answers/contract.py",
        "indexing/notes/routing_hints.py",
    } <= found.keys()


def test_the_path_imports_only_itself_and_what_is_named_as_trusted() -> None:
    path, asked = set(read()), trusted()
    used: set[str] = set()
    for name in path:
        for module in imported(PACKAGE / name):
            if module.endswith(".py"):
                assert module in path | asked, f"{name} imports {module}"
                used.add(module)
            else:
                assert module.partition(".")[0] in sys.stdlib_module_names, f"{name}: {module}"
    assert asked <= used, "docs/architecture.md trusts what the path does not use"


def test_notes_go_nowhere_in_an_index_but_to_the_crossing() -> None:
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


def test_only_the_engine_makes_replies_and_only_of_settled_drafts() -> None:
    """Outside of the path nothing makes a claim, an answer or a reply for a reader."""
    makers = {
        path.relative_to(PACKAGE).as_posix()
        for path in (PACKAGE / "serve").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"Claim", "Answer", "Reply"}
    }
    # The flat form is for conformance: nothing else of serve/ imports it.
    assert makers <= {*read(), "tests/flat_form.py"}
    for path in (PACKAGE / "serve").rglob("*.py"):
        assert "tests/flat_form.py" not in set(imported(path)), path
