"""The language of the code: the counts of `tests/support/dialect.py` are all zero."""

from pathlib import Path

import pytest

from support import dialect


@pytest.mark.parametrize("kind", dialect.KINDS)
def test_no_name_or_docstring_breaks_the_rules_of_the_language(kind: str) -> None:
    breaches = [
        f"{finding.path}:{finding.line}: {finding.name}"
        for finding in dialect.find_dialect()
        if finding.kind == kind
    ]
    assert breaches == [], dialect.KINDS[kind]


def test_every_exception_is_still_needed_and_has_its_reason() -> None:
    assert dialect.unused_exceptions() == set()
    assert all(len(reason.split()) > 2 for reason in dialect.EXCEPTIONS.values())


def test_each_kind_of_breach_is_found(tmp_path: Path) -> None:
    package = tmp_path / dialect.PACKAGE
    package.mkdir(parents=True)
    (package / "telling.py").write_text(
        '"""What is told."""\n\nclass Site:\n    pass\n\n'
        "def of(kept):\n    found, *_ = kept\n    return found\n" + "\n" * dialect.MAX_LINES
    )
    (package / "sites.py").write_text("class Site:\n    pass\n")
    findings = dialect.find_dialect(tmp_path)
    assert {finding.kind for finding in findings} == set(dialect.KINDS)
    assert {finding.name for finding in findings if finding.kind == "name"} == {"kept", "found"}
    assert [finding.name for finding in findings if finding.kind == "class"] == ["Site", "Site"]


@pytest.mark.parametrize("name", ["streaming.py", "text_encoding.py", "__init__.py"])
def test_terms_of_the_field_may_end_in_ing(tmp_path: Path, name: str) -> None:
    module = tmp_path / dialect.PACKAGE / "indexing" / name
    module.parent.mkdir(parents=True)
    module.write_text('"""Encode a text as a stream."""\n')
    assert dialect.find_dialect(tmp_path) == []
