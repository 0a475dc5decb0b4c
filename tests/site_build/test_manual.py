"""Our own manual: it builds in strict mode, passes its gold set, and its schema knows each option.

No other test reads the manual.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.mkdocs.options import AnswerableConfig, list_option_names
from support import sites
from support.frozen_site import build_strictly


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    for name in ("docs", "notebook", "overrides", "eval"):
        shutil.copytree(sites.ROOT / name, folder / name)
    shutil.copy(sites.ROOT / "mkdocs.yml", folder)
    build_strictly(folder)
    return folder


def test_the_manual_builds_and_passes_its_gold_set(
    manual: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (manual / "site" / "index.html").is_file()
    monkeypatch.chdir(manual)
    result = CliRunner().invoke(main, ["eval"])
    assert result.exit_code == 0, result.output


def list_properties(group: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """List the options of a schema, those of groups by their whole names."""
    for name, schema in group["properties"].items():
        if "properties" in schema:
            yield from list_properties(schema, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_the_schema_that_editors_read_knows_each_option() -> None:
    text = (sites.ROOT / "docs" / "assets" / "mkdocs.schema.json").read_text("utf-8")
    options = json.loads(text)["definitions"]["answerable"]
    assert {*list_properties(options)} == {"enabled", *list_option_names(AnswerableConfig)}
