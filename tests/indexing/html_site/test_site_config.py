"""Test site.json, the configuration of the widget: its addresses, its examples and its writers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.engine.errors import SiteError
from answerable.indexing.widget.site_files import (
    WIDGET_CONFIG_PATH,
)
from answerable.mkdocs.options import parse_shortcut
from support.known_questions import write_known_questions
from support.sites import (
    NOTES,
    build_here,
    failure,
    index,
    opened,
    put,
    write_site,
)

MOOR: dict[str, object] = {
    "id": "moor",
    "query": "How big is a buoy?",
    "expectAnswerMode": "partial",
    "example": True,
}
REPOSITORY = "https://github.com/harbour/harbour"


def gold(folder: Path, *queries: dict[str, object]) -> None:
    put(folder / "eval" / "gold.yaml", yaml.safe_dump({"queries": list(queries)}))


def query(number: int, **fields: object) -> dict[str, object]:
    return {**MOOR, "id": f"q{number}", "query": f"Question {number}?", **fields}


def read_config(folder: Path) -> Any:
    return json.loads((folder / "site" / WIDGET_CONFIG_PATH).read_text(encoding="utf-8"))


def site(folder: Path, widget: dict[str, object] | None = None, **config: Any) -> Path:
    plugins = config.pop("plugins", ["search"])
    return write_site(
        folder, plugins=[*plugins, {"answerable": {"widget": widget or {}}}], **config
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with notes and a gold set, built."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, notes=NOTES, site_author="Ada", repo_url=REPOSITORY)
    gold(
        folder,
        query(1, query="Who is  {{author}}\n at sea?"),
        query(2, example=False),
        query(3, expectAnswerMode="supported"),
        query(4),
        query(5),
    )
    build_here(folder)
    return folder


def test_a_build_tells_the_bundle_and_the_first_three_examples(folder: Path) -> None:
    assert read_config(folder) == {
        "bundle": opened(folder).manifest.id,
        "examples": ["Who is Ada at sea?", "Question 3?", "Question 4?"],
        "page_examples": {},
        "search": None,
        "authors": (
            "https://github.com/harbour/harbour/issues/new?title={question}&body=The%20ask%20box"
            "%20of%20this%20site%20did%20not%20find%20an%20answer.%0A%0AQuestion%3A%20{question}"
            "%0ABundle%3A%20{bundle}%0A"
        ),
        "feedback": None,
        "preview": False,
        "engine": None,
        "index": None,
    }
    pages = [path.read_text("utf-8") for path in (folder / "site").rglob("*.html")]
    assert len(pages) >= 3
    assert not [html for html in pages if opened(folder).manifest.id in html]


def test_known_questions_are_examples_until_somebody_names_some(tmp_path: Path) -> None:
    build_here(write_site(tmp_path))
    questions = {"mooring#chains": ["how thick is it"], "storms#lanterns": ["what does red mean"]}
    write_known_questions(tmp_path, questions)
    build_here(tmp_path)
    config = read_config(tmp_path)
    assert config["examples"] == ["how thick is it", "what does red mean"]
    assert config["page_examples"]["/mooring/"] == ["how thick is it"]
    gold(tmp_path, query(1, query="How big is a boat?"))
    build_here(tmp_path)
    assert read_config(tmp_path)["examples"] == ["How big is a boat?"]
    build_here(site(tmp_path, {"examples": ["Who owns  the crane?"]}))
    assert read_config(tmp_path)["examples"] == ["Who owns the crane?"]


@pytest.mark.parametrize(
    ("theme", "plugins", "address"),
    [
        ({"name": "material"}, ["search"], "?q={question}"),
        ({"name": "material"}, [{"search": {"enabled": False}}], None),
        ({"name": "readthedocs"}, ["search"], "search.html?q={question}"),
        # The widget looks for it in the page.
        ({"name": None, "custom_dir": "plain"}, ["search"], ""),
    ],
)
def test_the_search_of_a_theme_is_known(
    tmp_path: Path, theme: dict[str, object], plugins: list[object], address: str | None
) -> None:
    put(tmp_path / "plain" / "main.html", "<!doctype html><body>{{ page.content }}</body>")
    build_here(site(tmp_path, pages={"index.md": "# A\n\nText.\n"}, theme=theme, plugins=plugins))
    assert read_config(tmp_path)["search"] == address
    is_written = address == "search.html?q={question}"
    assert (tmp_path / "site" / "search.html").exists() is is_written


@pytest.mark.parametrize(
    ("url", "start"),
    [
        (f"{REPOSITORY}/", f"{REPOSITORY}/issues/new?title={{question}}&body="),
        (f"{REPOSITORY}/tree/main/docs", f"{REPOSITORY}/issues/new?"),
        ("https://ada:secret@github.com/h/{h}", "https://github.com/h/%7Bh%7D/issues/new?"),
        (
            "https://gitlab.com/group/part/harbour",
            "https://gitlab.com/group/part/harbour/-/issues/new?issue%5Btitle%5D={question}"
            "&issue%5Bdescription%5D=The%20ask",
        ),
        ("https://codeberg.org/harbour/harbour", None),
        ("https://notgithub.com/harbour/harbour", None),
    ],
)
def test_a_repository_s_issues_are_known(tmp_path: Path, url: str, start: str | None) -> None:
    build_here(site(tmp_path, pages={"index.md": "# A\n\nText.\n"}, repo_url=url))
    authors = read_config(tmp_path)["authors"]
    assert authors is None if start is None else authors.startswith(start)
    assert "secret" not in str(authors)
    assert start is None or "{bundle}" in authors


def test_an_owner_s_addresses_are_told_and_defaults_can_be_taken_away(tmp_path: Path) -> None:
    options: dict[str, object] = {
        "search": "find/?text={question}&in={bundle}",
        "authors": "mailto:docs@harbour.example?subject={question}",
        "feedback": "https://harbour.example/feedback",
    }
    write_site(tmp_path, pages={"index.md": "# A\n\nText.\n"}, theme="material")
    for widget, expected in (
        (options, options),
        ({"search": "none", "authors": False, "feedback": "none"}, dict.fromkeys(options)),
    ):
        build_here(site(tmp_path, widget, theme="material", repo_url=REPOSITORY))
        config = read_config(tmp_path)
        assert {name: config[name] for name in options} == expected


@pytest.mark.parametrize("name", ["search", "authors", "feedback"])
@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:,x", "//elsewhere.example/", "a b", "?q={query}", True]
)
def test_an_unsafe_address_is_refused(tmp_path: Path, name: str, address: object) -> None:
    message = failure(site(tmp_path, {name: address}))
    assert f"widget.{name}: {address!r}" in message


@pytest.mark.parametrize(
    ("spelling", "shortcut"),
    [
        ("Ctrl+I", "Ctrl+I"),
        ("shift+alt+ctrl+/", "Ctrl+Alt+Shift+/"),
        ("None", "none"),
    ],
)
def test_a_shortcut_is_told_in_one_form(spelling: str, shortcut: str) -> None:
    assert parse_shortcut(spelling) == parse_shortcut(shortcut) == shortcut


@pytest.mark.parametrize(
    "spelling",
    ["i", "", "Ctrl+", "Shift+I", "Meta+I", "Ctrl+Ctrl+I", "Ctrl+F13", "Ctrl+I+J"],
)
def test_keys_that_readers_type_are_refused(spelling: str) -> None:
    with pytest.raises(SiteError, match=r"^widget\.shortcut: .* such as Ctrl\+I"):
        parse_shortcut(spelling)


def test_build_injects_the_bundle_of_its_function(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "site", tmp_path / "site")
    (tmp_path / "site" / WIDGET_CONFIG_PATH).unlink()
    for _ in range(2):
        done = index(tmp_path)
        assert done.returncode == 0, done.stderr
        config = read_config(tmp_path)
        widget = (tmp_path / "site" / WIDGET_CONFIG_PATH).parent
        entry = config.pop("index")
        assert (widget / entry["manifest"]).is_file()
        assert (widget / config.pop("engine")).is_file()
        assert config == {
            "bundle": opened(tmp_path).manifest.id,
            "examples": [],
            "page_examples": {},
            # The widget looks for it in the page.
            "search": "",
            "authors": None,
            "feedback": None,
            "preview": False,
        }
