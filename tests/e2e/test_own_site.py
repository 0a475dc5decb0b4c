"""Our own manual: it builds in strict mode, passes its gold set and keeps its notebook private."""

import json
import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.config import base, config_options

from answerable.indexing.notes.notebook import read_notebook
from answerable.mkdocs.options import AnswerableConfig
from answerable.serve.stores.bundle import open_bundle
from support import sites

PARTS = ("docs", "notebook", "overrides", "eval", "mkdocs.yml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("own")
    for name in PARTS:
        source = sites.ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    return copy


@pytest.fixture(scope="module")
def log(folder: Path) -> str:
    done = sites.build(folder, "-v", "--strict")
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr


def test_own_site_builds_in_strict_mode(folder: Path, log: str) -> None:
    assert "Documentation built" in log
    assert (folder / "site" / "index.html").is_file()
    assert (folder / "function" / "main.py").is_file()


@pytest.mark.usefixtures("log")
def test_own_gold_set_passes(folder: Path) -> None:
    done = sites.command(folder, "eval", "--full")
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_sentence_of_the_notebook_is_published(folder: Path, log: str) -> None:
    written = [*_texts(folder / "site"), *_texts(folder / "function"), log]
    published = " ".join(_words(" ".join(written)))
    sentences = [
        sentence
        for note in list(read_notebook(folder / "notebook").notes)
        for sentence in re.split(r"(?<=[.!?])\s+", note.body)
        if len(_words(sentence)) >= 8
    ]
    assert len(sentences) >= 40
    leaked = [s for s in sentences if " ".join(_words(s)) in published]
    assert leaked == []


@pytest.mark.usefixtures("log")
def test_the_check_for_sentences_can_fail(folder: Path) -> None:
    published = " ".join(_words(" ".join(_texts(folder / "function"))))
    assert "refuses a notebook inside a published folder" in published


def _texts(folder: Path) -> Iterator[str]:
    """Every file below a folder as text, compressed blocks too."""
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".safetensors":
            data = path.read_bytes()
            yield data.decode("utf-8", "replace")
            for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
                try:
                    inflated = zlib.decompressobj().decompress(data[match.start() :])
                except zlib.error:
                    continue
                yield inflated.decode("utf-8", "replace")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_there_is_a_manual_a_notebook_and_a_gold_set(folder: Path) -> None:
    queries = yaml.safe_load((folder / "eval" / "gold.yaml").read_text("utf-8"))["queries"]
    guarded = [
        query
        for query in queries
        if query.get("expectAnswerMode") in ("not-found", "related-material")
    ]
    assert len(list((folder / "docs").glob("*.md"))) >= 12
    assert len(list(read_notebook(folder / "notebook").notes)) >= 6
    assert len(queries) >= 24
    assert len(guarded) * 3 >= len(queries)


def test_every_option_is_in_the_table_with_its_default() -> None:
    text = (sites.ROOT / "docs" / "configure.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w.]+)` \| [^|]+ \| ([^|]+) \|", text, re.M))
    options = dict(_options(AnswerableConfig(), ""))
    assert set(options) <= set(rows)
    for name, default in options.items():
        if default is not None:
            assert str(default).lower() in rows[name].lower(), name


def test_every_choice_of_an_option_is_in_the_table() -> None:
    text = (sites.ROOT / "docs" / "configure.md").read_text("utf-8")
    # The first row of an option is that of the table of all options.
    rows = dict(reversed(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", text, re.M)))
    choices_by_option = {
        name: option.choices
        for name, option in _schema(AnswerableConfig(), "")
        if isinstance(option, config_options.Choice)
    }
    assert {"embedding.provider", "answers.provider"} <= choices_by_option.keys()
    for name, choices in choices_by_option.items():
        assert set(re.findall(r"`([^`]+)`", rows[name])) == set(choices), name


def _options(config: base.Config, prefix: str) -> Iterator[tuple[str, object]]:
    return ((name, option.default) for name, option in _schema(config, prefix))


def _schema(config: base.Config, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, option in type(config)._schema:
        if isinstance(option, config_options.SubConfig):
            yield from _schema(option.config_class(), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", option


@pytest.mark.usefixtures("log")
def test_the_answers_of_the_gallery_are_of_sections_that_exist(folder: Path) -> None:
    states = json.loads((folder / "docs" / "assets" / "widget-states.json").read_text("utf-8"))
    citations = [
        each for state in states.values() for each in state.get("body", {}).get("citations", ())
    ]
    cited = {each["id"] for each in citations if each["kind"] == "record"}
    assert len(cited) > 5
    missing = cited - set(open_bundle(folder / "function" / "bundle").passage_ids)
    assert not missing, "run `make shots`, which records the answers anew"
