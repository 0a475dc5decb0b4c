"""Test site.json, the configuration of the widget: its addresses, its examples and its writers."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.indexing.output.files import is_lock_or_leftover
from answerable.indexing.widget.site_files import (
    WIDGET_CONFIG_PATH,
    PublishedIndex,
    WidgetConfig,
    write_widget_files,
)
from answerable.mkdocs.options import parse_shortcut
from answerable.serve.errors import SiteError
from answerable.serve.types import RecordCitation
from support.deadlines import until
from support.server_processes import mkdocs
from support.sites import (
    NOTES,
    PAGES,
    ask,
    build,
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
SECRET = "Was the gearbox of the electric winch taken from a scrapped tractor in the spring?"
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
        "engine": None,
        "index": None,
    }
    pages = [path.read_text("utf-8") for path in (folder / "site").rglob("*.html")]
    assert len(pages) >= 3
    assert not [html for html in pages if opened(folder).manifest.id in html]


def test_the_same_inputs_make_the_same_bytes(folder: Path) -> None:
    before = (folder / "site" / WIDGET_CONFIG_PATH).read_bytes()
    done = build(folder, "-q")
    assert done.returncode == 0, done.stderr
    assert (folder / "site" / WIDGET_CONFIG_PATH).read_bytes() == before


def test_a_dirty_build_brings_it_up_to_date_and_leaves_no_other_file(tmp_path: Path) -> None:
    build_here(site(tmp_path))
    before = read_config(tmp_path)
    gold(tmp_path, MOOR)
    put(tmp_path / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "forty"))
    done = build(tmp_path, "--dirty")
    assert done.returncode == 0, done.stderr
    after = read_config(tmp_path)
    assert after["bundle"] == opened(tmp_path).manifest.id != before["bundle"]
    assert after["examples"] == ["How big is a buoy?"]
    widget = (tmp_path / "site" / WIDGET_CONFIG_PATH).parent
    modules = {"copy-answer", "feedback", "highlight", "offline", "search-row", "site-search"}
    scripts = {f"{name}.js" for name in ("agents", "ask-box", "suggest", *modules)}
    folders = {"strings", "engine", "index", "model"}
    assert {path.name for path in widget.iterdir()} == scripts | folders | {"site.json"}
    assert [f"engine/{path.name}" for path in widget.glob("engine/*")] == [
        after["engine"][0].rpartition("/")[0]
    ]
    for kind in ("manifest", "core"):
        [path] = widget.glob(f"index/*/{kind}-*")
        assert path.relative_to(widget).as_posix() == after["index"]["en"][kind]


def test_an_example_that_repeats_a_note_fails_the_build_and_writes_nothing(tmp_path: Path) -> None:
    write_site(tmp_path, notes=NOTES)
    build_here(tmp_path)
    before = (tmp_path / "site" / WIDGET_CONFIG_PATH).read_bytes()
    gold(tmp_path, {**MOOR, "query": SECRET})
    done = build(tmp_path, "--dirty")
    assert done.returncode == 1
    assert "winch.md: words " in done.stderr
    assert f"stand in site/{WIDGET_CONFIG_PATH}, examples[0]; " in done.stderr
    assert "tractor" not in done.stderr
    assert (tmp_path / "site" / WIDGET_CONFIG_PATH).read_bytes() == before
    # What an older build has left is replaced by what is audited.
    gold(tmp_path, MOOR)
    (tmp_path / "site" / WIDGET_CONFIG_PATH).write_text(json.dumps([SECRET]))
    assert build(tmp_path, "--dirty").returncode == 0
    assert read_config(tmp_path)["examples"] == ["How big is a buoy?"]


def test_an_address_that_repeats_a_note_fails_the_build(tmp_path: Path) -> None:
    words = "gearbox-of-the-electric-winch-was-taken-from-a-scrapped"
    options = {"widget": {"authors": f"{words}?q={{question}}"}}
    message = failure(write_site(tmp_path, notes=NOTES, options=options))
    assert f"site/{WIDGET_CONFIG_PATH}" in message
    assert not (tmp_path / "site" / WIDGET_CONFIG_PATH).exists()
    assert not (tmp_path / "function").exists()


def test_it_is_written_at_last_and_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced: list[tuple[str, str]] = []
    replace = Path.replace

    def watched(path: Path, target: Path) -> Path:
        replaced.append((path.name, Path(target).name))
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", watched)
    build_here(write_site(tmp_path))
    names = [target for _, target in replaced]
    assert names[-1] == "site.json"
    assert is_lock_or_leftover(replaced[-1][0])
    assert "manifest.json" in names[:-1]


def test_a_function_that_is_refused_leaves_no_site_json(tmp_path: Path) -> None:
    put(tmp_path / "function" / "mine.txt", "mine")
    assert "function" in failure(write_site(tmp_path))
    assert not (tmp_path / "site" / WIDGET_CONFIG_PATH).exists()


HEADINGS = {
    "index.md": "# Harbour\n\n## See what is new\n\nA crane.\n",
    "crane.md": "# Crane\n\n## See what is new\n\nIt turns.\n\n## Use\n\nLift.\n\n"
    "## Lift a boat by crane\n\nHook the boat on, then turn the crane.\n\n"
    "## Paint the crane in winter\n\nIn red.\n",
    "berth.md": "# Berth\n\n## What does a berth cost?\n\nA berth costs nine coins a day.\n",
}


def test_headings_are_examples_until_somebody_names_some(tmp_path: Path) -> None:
    build_here(site(tmp_path, pages=HEADINGS))
    examples = read_config(tmp_path)["examples"]
    assert examples == ["What does a berth cost?", "Lift a boat by crane"]
    for example in examples:
        citation, *_ = ask(opened(tmp_path), example).citations
        assert isinstance(citation, RecordCitation)
        assert citation.title.endswith(f" › {example}")
    gold(tmp_path, query(1, query="How big is a boat?"))
    build_here(tmp_path)
    assert read_config(tmp_path)["examples"] == ["How big is a boat?"]


@pytest.mark.parametrize("examples", [[], ["Who owns  the crane?"], ["A?", "B?", "C?", "D?"]])
def test_the_option_examples_goes_before_all_others(tmp_path: Path, examples: list[str]) -> None:
    gold(site(tmp_path, {"examples": examples}, pages=HEADINGS), query(1))
    build_here(tmp_path)
    assert read_config(tmp_path)["examples"] == [" ".join(each.split()) for each in examples[:3]]


def test_a_gold_set_that_marks_nothing_is_not_read(tmp_path: Path) -> None:
    put(write_site(tmp_path) / "eval" / "gold.yaml", "queries: broken")
    build_here(tmp_path)
    assert read_config(tmp_path)["examples"] == []


@pytest.mark.parametrize(
    ("theme", "plugins", "address"),
    [
        ({"name": "material"}, ["search"], "?q={question}"),
        ({"name": "material"}, ["material/search"], "?q={question}"),
        ({"name": "material"}, [{"search": {"enabled": False}}], None),
        ({"name": "material"}, [], None),
        ({"name": "mkdocs"}, ["search"], "?q={question}"),
        ({"name": "readthedocs"}, ["search"], "search.html?q={question}"),
        ({"name": "readthedocs"}, [], None),
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
        (f"{REPOSITORY}.git", f"{REPOSITORY}/issues/new?"),
        (f"{REPOSITORY}/tree/main/docs", f"{REPOSITORY}/issues/new?"),
        ("https://ada:secret@github.com/h/{h}", "https://github.com/h/%7Bh%7D/issues/new?"),
        (
            "https://gitlab.com/group/part/harbour",
            "https://gitlab.com/group/part/harbour/-/issues/new?issue%5Btitle%5D={question}"
            "&issue%5Bdescription%5D=The%20ask",
        ),
        (
            "https://gitlab.harbour.example:8443/h/h/-/tree/main",
            "https://gitlab.harbour.example:8443/h/h/-/issues/new?",
        ),
        ("https://github.com/harbour", None),
        ("https://codeberg.org/harbour/harbour", None),
        ("https://notgithub.com/harbour/harbour", None),
        ("", None),
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
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:x",
        "data:,x",
        "http:x",
        "/search/",
        "//elsewhere.example/",
        "a b",
        "a\\b",
        "",
        "?q=\x07",
        True,
    ],
)
def test_an_unsafe_address_is_refused(tmp_path: Path, name: str, address: object) -> None:
    message = failure(site(tmp_path, {name: address}))
    assert f"widget.{name}: {address!r} is neither" in message
    assert message.count("\n") <= 3


@pytest.mark.parametrize("address", ["?q={query}", "?q={", "?q={question!r}", "?q={question:9}"])
def test_braces_that_stand_for_nothing_are_refused(tmp_path: Path, address: str) -> None:
    message = failure(site(tmp_path, {"search": address}))
    assert "widget.search" in message
    assert "only {question} and {bundle} may stand in it" in message


def test_feedback_holds_no_question(tmp_path: Path) -> None:
    message = failure(site(tmp_path, {"feedback": "https://harbour.example/{question}"}))
    assert "widget.feedback" in message
    assert "no placeholder may stand in it" in message


@pytest.mark.parametrize(
    ("spelling", "shortcut"),
    [
        ("Ctrl+I", "Ctrl+I"),
        ("ctrl+i", "Ctrl+I"),
        ("shift+alt+ctrl+/", "Ctrl+Alt+Shift+/"),
        ("Alt+f2", "Alt+F2"),
        ("None", "none"),
    ],
)
def test_a_shortcut_is_told_in_one_form(spelling: str, shortcut: str) -> None:
    assert parse_shortcut(spelling) == parse_shortcut(shortcut) == shortcut


@pytest.mark.parametrize(
    "spelling",
    [
        "i",
        "",
        "+",
        "Ctrl",
        "Ctrl+",
        "Shift+I",
        "Meta+I",
        "Ctrl+Ctrl+I",
        "Ctrl+ab",
        "Ctrl+F13",
        "Ctrl++",
        "Ctrl+I+J",
        "Ctrl+é",
    ],
)
def test_keys_that_readers_type_are_refused(spelling: str) -> None:
    with pytest.raises(SiteError, match=r"^widget\.shortcut: .* such as Ctrl\+I"):
        parse_shortcut(spelling)


def test_a_build_refuses_a_shortcut_too(tmp_path: Path) -> None:
    assert "widget.shortcut: 's' has to be" in failure(site(tmp_path, {"shortcut": "s"}))


def test_languages_apart_are_told_by_their_tags(tmp_path: Path) -> None:
    indexes = {"fr": PublishedIndex("b", "now"), "de": PublishedIndex("a", "now")}
    write_widget_files(tmp_path, WidgetConfig(), indexes)
    config = json.loads((tmp_path / WIDGET_CONFIG_PATH).read_text("utf-8"))
    assert list(config["bundle"].items()) == [("de", "a"), ("fr", "b")]


def test_a_preview_is_told_of_every_rebuild(tmp_path: Path) -> None:
    write_site(tmp_path)
    gold(tmp_path, query(1))
    with mkdocs(tmp_path) as server:

        def now() -> Any:
            status, body = server.request("GET", f"/{WIDGET_CONFIG_PATH}")
            return json.loads(body) if status == 200 else {}

        first = now()["bundle"]
        assert server.ask("/_answerable/answer", "How big is a buoy?")["bundle"] == first
        put(tmp_path / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "forty"))
        until(lambda: now().get("bundle", first) != first)
        second = now()["bundle"]
        until(lambda: server.ask("/_answerable/answer", "How big is a buoy?")["bundle"] == second)
        gold(tmp_path, query(2))
        until(lambda: now().get("examples") == ["Question 2?"])
        assert now()["bundle"] == second


def test_build_injects_the_bundle_of_its_function(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "site", tmp_path / "site")
    (tmp_path / "site" / WIDGET_CONFIG_PATH).unlink()
    for _ in range(2):
        done = index(tmp_path)
        assert done.returncode == 0, done.stderr
        config = read_config(tmp_path)
        widget = (tmp_path / "site" / WIDGET_CONFIG_PATH).parent
        [entry] = config.pop("index").values()
        assert (widget / entry["manifest"]).is_file()
        assert all((widget / path).is_file() for path in config.pop("engine"))
        assert config == {
            "bundle": opened(tmp_path).manifest.id,
            "examples": [],
            "page_examples": {},
            # The widget looks for it in the page.
            "search": "",
            "authors": None,
            "feedback": None,
        }
