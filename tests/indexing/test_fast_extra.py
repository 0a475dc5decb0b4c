"""The extra `fast`: suggested by a build whose bundle is large enough, and by no other."""

from pathlib import Path

import pytest

from answerable.indexing.output import function_writer
from answerable.indexing.output.bundle_writer import serialize_index
from answerable.indexing.pipeline import (
    StagedIndex,
    publish_function,
    stage_function,
    summarize_build,
)
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.settings import FunctionSettings
from support.doubles import NOON, TINY, index_of, record

SUGGESTION = "pip install 'mkdocs-answerable[fast]'"


@pytest.mark.parametrize(
    ("least", "installed", "suggested"),
    [(1, False, True), (1, True, False), (8_000_000, False, False)],
)
def test_a_build_suggests_the_extra_where_a_large_bundle_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: int, installed: bool, suggested: bool
) -> None:
    monkeypatch.setattr(function_writer, "MIN_KERNEL_BYTES", least)
    if not installed:
        monkeypatch.setattr(function_writer, "KERNEL_PACKAGE", "a-package-that-nobody-has")
    index = index_of(tmp_path / "index", [record("p", "<p>The rope holds.</p>")])
    encoding = TINY.dimensions
    staged_index = StagedIndex(lambda: index, serialize_index(index, encoding))
    staged = stage_function(staged_index, tmp_path / "f", FunctionSettings(), lambda _: None)
    manifest = publish_function(staged, TINY, LOCAL_PROFILE, NOON)
    assert (SUGGESTION in summarize_build(manifest, 0, tmp_path)) is suggested
    pins = (tmp_path / "f" / "requirements.txt").read_text("utf-8")
    assert ("numkong==" in pins) is (installed and least == 1)
