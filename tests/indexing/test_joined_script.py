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


def test_modules_that_import_each_other_are_named() -> None:
    sources = {
        "a.js": 'import { b } from "./b.js";\n',
        "b.js": 'import { c } from "./c.js";\nexport const b = 1;\n',
        "c.js": 'import { b } from "./b.js";\nexport const c = 1;\n',
    }
    with pytest.raises(ValueError, match=r"b\.js imports c\.js imports b\.js"):
        join_modules(sources, "a.js")


@pytest.mark.parametrize(
    "statement",
    [
        'import all from "./b.js";',
        'import * as b from "./b.js";',
        "export default 1;",
        'export { a } from "./b.js";',
    ],
)
def test_other_forms_are_refused(statement: str) -> None:
    with pytest.raises(ValueError, match="has a form that cannot be joined"):
        join_modules({"a.js": f"const a = 1;\n{statement}\n"}, "a.js")


def test_dynamic_import_stays() -> None:
    source = "export const load = async (name) => import(`./x/${name}.js`);\n"
    assert join_modules({"a.js": source}, "a.js") == source
