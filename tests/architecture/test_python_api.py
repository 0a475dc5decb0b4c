"""``import answerable``: few names, each imported when it is first used."""

import subprocess
import sys
from importlib import metadata

import pytest

import answerable
from support.deadlines import PATIENCE


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_the_package_offers_few_names_and_each_is_there() -> None:
    # Ten to ask, and five that the author of a provider writes in signatures.
    assert len(answerable.__all__) <= 15
    assert sorted(answerable.__all__) == list(answerable.__all__)
    for name in answerable.__all__:
        assert getattr(answerable, name) is not None, name
        assert name in dir(answerable)
    assert {"open_bundle", "Engine", "Reply", "AnswerableError"} <= set(answerable.__all__)
    types = {"EmbedderIdentity", "Evidence", "FunctionSettings", "Passage", "Profile"}
    assert types <= set(answerable.__all__)
    assert answerable.__version__ == metadata.version("mkdocs-answerable")
    with pytest.raises(AttributeError, match="module 'answerable' has no attribute 'oracle'"):
        getattr(answerable, "oracle")  # noqa: B009 - mypy knows that it is not there


def test_the_import_loads_neither_numpy_nor_a_module_of_its_own() -> None:
    modules = loaded("import answerable; dir(answerable)")
    assert "numpy" not in modules
    assert {name for name in modules if name.startswith("answerable")} == {"answerable"}
    assert "numpy" in loaded("import answerable; answerable.open_bundle")
