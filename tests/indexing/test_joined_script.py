"""Modules that are joined into one script do what they do apart."""

import subprocess
from pathlib import Path

import pytest

from answerable.indexing.widget.scripts import join_modules
from support.engine_process import node_command

SOURCES = {
    "main.js": (
        'import { count, Rope as Line } from "./ropes.js";\n'
        'import {\n  double,\n} from "./doubling.js";\n'
        "const LIMIT = 2;\n"
        "export async function tell() {\n  return [count(), new Line().length, double(LIMIT)];\n}\n"
    ),
    "ropes.js": (
        'import { double } from "./doubling.js";\n'
        "const LIMIT = 5;\n"
        "export const count = () => double(LIMIT);\n"
        "export class Rope {\n  length = LIMIT;\n}\n"
    ),
    "doubling.js": "export function double(number) {\n  return number * 2;\n}\n",
    "unused.js": "throw new Error();\n",
}


def test_joined_modules_do_what_they_do_apart(tmp_path: Path) -> None:
    joined = join_modules(SOURCES, "main.js")
    assert joined.count("return number * 2") == 1
    assert "throw" not in joined
    (tmp_path / "apart").mkdir()
    for name, text in SOURCES.items():
        (tmp_path / "apart" / name).write_text(text, encoding="utf-8")
    (tmp_path / "main.js").write_text(joined, encoding="utf-8")
    outputs = []
    for path in (tmp_path / "apart" / "main.js", tmp_path / "main.js"):
        script = f"import {{ tell }} from '{path.as_uri()}'; console.log(await tell())"
        done = subprocess.run(
            [*node_command(), "--input-type=module", "-e", script],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs == ["[ 10, 5, 4 ]\n"] * 2


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ('import { b } from "./b.js";', r"a\.js imports b\.js imports a\.js"),
        ('import * as b from "./b.js";', "has a form that cannot be joined"),
        ("export default 1;", "has a form that cannot be joined"),
    ],
)
def test_a_circle_and_other_forms_are_refused(statement: str, problem: str) -> None:
    sources = {"a.js": f"{statement}\n", "b.js": 'import { a } from "./a.js";\n'}
    with pytest.raises(ValueError, match=problem):
        join_modules(sources, "a.js")


def test_dynamic_import_stays() -> None:
    source = "export const load = async (name) => import(`./x/${name}.js`);\n"
    assert join_modules({"a.js": source}, "a.js") == source
