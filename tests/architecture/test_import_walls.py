"""The walls between the rooms: loaded modules, the fields of a hint, and who is handed notes."""

import ast
import dataclasses
import subprocess
import sys

from answerable.engine.types import Evidence, RoutingHint
from support.deadlines import PATIENCE
from support.sites import ROOT

PACKAGE = ROOT / "plugin" / "answerable"
SERVING = sorted(
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for path in (PACKAGE / "engine").rglob("*.py")
    if path.stem not in ("__init__", "main")
)


def test_hints_and_evidence_have_no_field_for_private_text() -> None:
    expected = {"id", "label", "locator", "url"}
    assert {field.name for field in dataclasses.fields(RoutingHint)} == expected
    assert {field.name for field in dataclasses.fields(Evidence)} == {"passages", "hints", "lead"}


def test_an_index_hands_notes_to_routing_hints_alone() -> None:
    tree = ast.parse((PACKAGE / "indexing" / "build.py").read_text(encoding="utf-8"))
    (build,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "build_index")
    takers = [
        ast.unparse(node.func)
        for node in ast.walk(build)
        if isinstance(node, ast.Call)
        and any(isinstance(argument, ast.Name) and argument.id == "notes" for argument in node.args)
    ]
    uses = [n for n in ast.walk(build) if isinstance(n, ast.Name) and n.id == "notes"]
    assert (takers, len(uses)) == (["embed_passages_and_notes"], 1)


def test_serve_loads_no_other_room_and_no_build_time_library() -> None:
    code = (
        "import importlib, sys\n"
        f"for name in {SERVING!r}: importlib.import_module('answerable.' + name)\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    loaded = set(done.stdout.split())
    assert "answerable.engine.engine" in loaded
    others = {name for name in loaded if name.startswith("answerable.")}
    assert all(name.startswith("answerable.engine") for name in others), others
    assert loaded.isdisjoint(
        {"mkdocs", "yaml", "click", "argparse", "selectolax", "wordllama",
         "jinja2", "sqlite3", "openai"}
    )  # fmt: skip
