"""Each code block of the manual is what it says: read by the loader it is for, or really run."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import markdown  # type: ignore[import-untyped]
import pytest
import yaml
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from playwright.sync_api import Browser, Page

from answerable.evaluate.gold import load_gold_queries
from answerable.indexing.notes.notebook import read_notebook
from answerable.indexing.pages.page_index import read_abbreviations, read_enrichment
from answerable.indexing.site_hosts.hosts import HOSTS, format_host_files
from answerable.mkdocs.site_config import find_plugin, load_mkdocs_config
from support import manual, sites, widget_folder, widget_tables
from support.manual import Block

_PACKAGES = "mkdocs-material mkdocs-answerable"
ADDRESS = "postgresql://answerable_publisher:word@db.example.com/docs"
# What nothing here can read, and what it is.
OTHERS = {
    "text": "what a program prints",
    "nginx": "a configuration of nginx",
    "gitignore": "the names of folders",
    "sql": "what a database is told",
}


def blocks_in(*languages: str) -> list[Any]:
    blocks = [each for each in manual.blocks() if each.language in languages]
    assert blocks
    return [pytest.param(each, id=each.where) for each in blocks]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the examples, not built."""
    return manual.write_site(tmp_path_factory.mktemp("examples"))


def test_every_block_is_of_a_language_that_is_checked() -> None:
    checked = {"yaml", "markdown", "json", "toml", "python", "js", "css", "html", "html+jinja"}
    checked |= {"sh", "console"}
    unknown = [b.where for b in manual.blocks() if b.language not in checked | set(OTHERS)]
    assert unknown == []
    assert {b.language for b in manual.blocks()} >= set(OTHERS), "an exception that nobody needs"


@pytest.mark.parametrize("block", blocks_in("yaml"))
def test_yaml_is_read_by_what_it_is_for(
    block: Block, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if block.text.strip() in host_files():
        assert block.where.startswith("publish.md:")
        return
    if (options := configuration(block)) is not None:
        monkeypatch.setenv("ANSWERABLE_DATABASE_URL", ADDRESS)
        load(folder, options)
        return
    file = tmp_path / "example.yml"
    sites.put(file, block.text)
    data = yaml.safe_load(block.text.removeprefix("---").removesuffix("---\n"))
    if data is None:
        (schema,) = re.findall(r"\$schema=(\S+)", block.text)
        site_url = yaml.load((sites.ROOT / "mkdocs.yml").read_text(), yaml.BaseLoader)["site_url"]
        assert (sites.ROOT / "docs" / schema.removeprefix(site_url)).is_file()
    elif isinstance(data, list):
        assert all(step.keys() & {"run", "uses"} for step in data)
    elif "queries" in data:
        assert load_gold_queries(file, None)
    elif block.text.startswith("---"):
        cells = manual.rows("configure.md", "key")
        documented = set(re.findall(r"`([\w.]+):`", " ".join(row[0] for row in cells)))
        assert {path.split(".")[0] for path in data} <= {path.split(".")[0] for path in documented}
        assert set(paths(data)) <= documented
    elif "jobs" in data:
        assert all(
            step.keys() & {"run", "uses"} for j in data["jobs"].values() for step in j["steps"]
        )
    elif "command" in data:
        (tmp_path / data["docs_dir"]).mkdir()
        config_file = file.rename(tmp_path / "answerable.yml")
        widget = find_plugin(load_mkdocs_config(config_file)).config.widget
        assert widget.placement == data["widget"]["placement"]
    elif "scrape_configs" in data:
        assert data["scrape_configs"][0]["static_configs"]
    else:
        assert read_enrichment(file)


def host_files() -> set[str]:
    """Format what `answerable init` writes for each host, for a site with Material."""
    files = [format_host_files(host, _PACKAGES, "my-docs") for host in HOSTS.values()]
    return {text.strip() for texts in files for text in texts.values() if text}


def test_every_file_of_a_host_is_in_the_manual() -> None:
    shown = {block.text.strip() for block in manual.blocks() if block.where[:7] == "publish"}
    page = (sites.ROOT / "docs" / "publish.md").read_text("utf-8")
    for host in HOSTS.values():
        assert format_host_files(host, _PACKAGES, "my-docs")[host.path].strip() in shown
        assert [path for path in host.others if f"`{path}`" not in page] == []


def configuration(block: Block) -> dict[str, Any] | None:
    """A block that is of a mkdocs.yml, made a whole one, as text and as data; None for others."""
    text = block.text
    if text.startswith("  - answerable:"):
        text = f"plugins:\n{text}"
    data = yaml.load(text.replace("!ENV", ""), yaml.SafeLoader) if "---" not in text else None
    if not isinstance(data, dict) or not data.keys() <= MkDocsConfig().keys():
        return None
    text = text if "site_name" in data else f"site_name: Docs\n{text}"
    text = text if "site_url" in data else f"site_url: https://docs.example.com/\n{text}"
    return {"text": text, "data": data}


def load(folder: Path, options: Mapping[str, Any]) -> None:
    """Load a configuration as `mkdocs build --strict` does, and tell the plugins of it."""
    sites.forget_plugins()
    file = folder / "example.yml"
    file.write_text(options["text"], "utf-8")
    config = load_config(str(file), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    config.plugins.on_config(config)
    config.plugins.on_shutdown()


# Options that are mappings whose keys are the site's own.
KEYED_BY_THE_SITE = ("retrieval.weights",)


def paths(data: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The options that a mapping sets, as ``group.name``."""
    for name, value in data.items():
        if isinstance(value, dict) and prefix + name not in KEYED_BY_THE_SITE:
            yield from paths(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_a_wrong_option_would_be_found(folder: Path) -> None:
    wrong = Block("here", "yaml", "  - answerable:\n      passages: {words: 3}\n")
    options = configuration(wrong)
    assert options
    with pytest.raises(Exception, match=r"passages\.words: 3 is not between 40 and 2000"):
        load(folder, options)


def test_every_option_is_in_an_example() -> None:
    shown: set[str] = set()
    for each in manual.blocks():
        options = configuration(each) if each.language == "yaml" else None
        for plugin in options["data"].get("plugins", ()) if options else ():
            if isinstance(plugin, dict) and "answerable" in plugin:
                shown |= set(paths(plugin["answerable"]))
    table = {row[0].strip("`") for row in manual.rows("configure.md", "option")}
    assert len(table) > 30
    assert table - shown == set()


@pytest.mark.parametrize("block", blocks_in("markdown"))
def test_markdown_is_a_note_a_page_or_abbreviations(block: Block, tmp_path: Path) -> None:
    sites.put(tmp_path / "example.md", block.text)
    if block.text.startswith("---"):
        private = read_notebook(tmp_path, writes_key=True)
        (note,) = (*private.notes, *private.unrouted)
        assert note.label
    elif block.text.startswith("*["):
        assert len(read_abbreviations(tmp_path / "example.md")) == len(block.text.splitlines())
    else:
        html = markdown.markdown(block.text, extensions=["attr_list", "md_in_html"])
        assert html.count(" data-answerable-exclude") == block.text.count("data-answerable-exclude")


@pytest.mark.parametrize(
    "block", [each for each in blocks_in("text") if each.values[0].text.startswith("---")]
)
def test_a_transcript_and_a_paged_note_are_notes(block: Block, tmp_path: Path) -> None:
    is_transcript = "WEBVTT" in block.text
    body = "" if is_transcript else "One page.\n\fAnother page.\n"
    name = "talk.vtt" if is_transcript else "book.md"
    sites.put(tmp_path / name, block.text + body)
    (note,) = list(read_notebook(tmp_path, writes_key=True).notes)
    assert note.label


@pytest.mark.parametrize("block", blocks_in("json"))
def test_json_is_json(block: Block) -> None:
    try:
        json.loads(block.text)
    except json.JSONDecodeError:
        # One object in each line, as a log or several requests give them.
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())


@pytest.mark.parametrize("block", blocks_in("python"))
def test_python_compiles(block: Block) -> None:
    compile(block.text, block.where, "exec")


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("widget")
    page = browser.new_page()
    with widget_folder.served(folder) as origin:
        widget_folder.visit(page, folder, origin)
        page.evaluate("customElements.whenDefined('answerable-ask')")
        yield page
    page.close()


@pytest.mark.parametrize("block", blocks_in("js"))
def test_a_script_compiles(block: Block, page: Page) -> None:
    page.evaluate("(text) => { (async () => {}).constructor(text); }", block.text)


@pytest.mark.parametrize("block", blocks_in("css"))
def test_styles_are_understood_and_of_the_widget(block: Block, page: Page) -> None:
    rules = re.findall(r"{(.*?)}", block.text, re.S)
    accepted = page.evaluate(
        "(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text);"
        " return [...sheet.cssRules].map((rule) => rule.cssText); }",
        block.text,
    )
    assert [text.count(";") for text in accepted] == [text.count(";") for text in rules]
    element = widget_tables.element(widget_tables.read_manifest())
    declared = {e["name"] for kind in ("cssProperties", "cssParts") for e in element[kind]}
    assert set(re.findall(r"(--[\w-]+):|::part\(([\w-]+)\)", block.text)) <= {
        (name, "") if name.startswith("--") else ("", name) for name in declared
    }


@pytest.mark.parametrize("block", blocks_in("html"))
def test_markup_calls_what_the_widget_has(block: Block) -> None:
    element = widget_tables.element(widget_tables.read_manifest())
    methods = {each["name"] for each in element["members"]}
    attributes = {each["name"] for each in element["attributes"]}
    for name in re.findall(r"<answerable-ask ([\w-]+)=", block.text):
        assert name in attributes
    assert set(re.findall(r"\.(\w+)\(\)", block.text)) <= methods
    assert "answerable-ask" in block.text


@pytest.mark.parametrize("block", blocks_in("html+jinja"))
def test_a_template_is_one(block: Block) -> None:
    assert jinja2.Environment(autoescape=True).parse(block.text).body


def test_the_examples_of_events_hear_every_event(page: Page) -> None:
    events = [
        each["name"] for each in widget_tables.element(widget_tables.read_manifest())["events"]
    ]
    scripts = [b.text for b in manual.blocks() if b.language == "js" and b.where[:5] == "theme"]
    listening = [text for text in scripts if "addEventListener" in text]
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    for text in listening:
        page.evaluate("(text) => { (0, eval)(text); }", text)
    for name in events:
        page.evaluate(
            "(name) => { document.querySelector('answerable-ask').dispatchEvent(new CustomEvent("
            "name, { bubbles: true, detail: { mode: 'not-found' } })); }",
            name,
        )
    assert [name for name in events if not any(name in text for text in heard)] == []
    assert "not found" in heard
