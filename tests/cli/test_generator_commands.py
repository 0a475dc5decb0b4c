"""Zensical, Sphinx and Hugo, really built: the commands read the options that the plugin reads."""

import json
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from answerable.engine.bundle import Bundle
from answerable.engine.providers import make_engine
from answerable.indexing.generators import detect_generator
from support import generated_sites, sites, static_server
from support.deadlines import until
from support.git_sites import init_repository, run_git
from support.server_processes import answerable_serve
from support.sites import NOTES, ask, command, local, opened, put

pytestmark = pytest.mark.deep

QUESTION = "How thick is the chain of a mooring?"
WINCH = "Where was the gearbox of the electric winch taken from?"
CUES = "WEBVTT\n\n00:00:05.000 --> 00:00:09.000\nA pilot boards every tanker at the outer buoy.\n"
PAGES = {
    **sites.PAGES,
    "mooring.md": "---\naliases: [dolphin berth]\ntags: [ropes]\n---\n\n"
    + sites.PAGES["mooring.md"],
    "guide/index.md": "---\ndescription: Where to begin.\n---\n\n# Guide\n\nRead this first.\n",
    "guide/secret.md": "---\nanswerable:\n  exclude: true\n---\n\n# Safe\n\nThe safe is grey.\n",
    "talk.md": "---\ntitle: A talk\ntranscript: talk.vtt\n---\n\n# A talk\n\nOn pilots.\n",
    "talk.vtt": CUES,
}
CHAIN = {
    "id": "chain",
    "query": QUESTION,
    "expectAnswerMode": "partial",
    "expectCited": ["mooring#chains"],
    "example": True,
}
EGG = {"id": "egg", "query": "How long does an egg boil?", "expectAnswerMode": "not-found"}
GOLD = {"queries": [CHAIN, EGG]}
ZENSICAL = """\
[project]
site_name = "Harbour"
site_url = "https://harbour.example/docs/"

[project.plugins.answerable]
{options}
"""


def write_zensical_site(folder: Path, options: str = "") -> Path:
    for name, text in PAGES.items():
        put(folder / "docs" / name, text)
    put(folder / "zensical.toml", ZENSICAL.format(options=options))
    put(folder / "eval" / "gold.yaml", yaml.safe_dump(GOLD))
    return folder


def describe(bundle: Bundle) -> dict[str, object]:
    rows = range(bundle.manifest.counts["passages"])
    passages = [bundle.passage(row) for row in rows]
    return {
        "records": sorted(bundle.index.record_ids),
        "passages": sorted((p.id, p.url, p.title, p.text) for p in passages),
        # The id is made by a key of the notebook.
        "hints": [(hint.label, hint.url) for hint in bundle.hints],
        "site": (bundle.index.site.name, bundle.index.site.url, bundle.index.site.language),
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of Zensical with notes, front matter, a transcript and a gold set, built."""
    folder = write_zensical_site(tmp_path_factory.mktemp("zensical"), 'notebook = "notebook"')
    put(folder / "notebook" / "winch.md", NOTES["winch.md"])
    init_repository(folder)
    done = command(folder, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_zensical_site_is_indexed_as_mkdocs_indexes_it(site: Path, tmp_path: Path) -> None:
    url, theme = "https://harbour.example/docs/", {"name": "material"}
    sites.write_site(tmp_path, PAGES, NOTES, site_url=url, theme=theme)
    put(tmp_path / "eval" / "gold.yaml", yaml.safe_dump(GOLD))
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert describe(opened(site)) == describe(opened(tmp_path))
    searches = [
        make_engine(opened(folder), local()).search("dolphin berth") for folder in (site, tmp_path)
    ]
    assert "mooring#" in searches[0][0].passage.id
    assert searches[0] == searches[1]
    citation = ask(opened(site), "Who boards every tanker?").answer.citations[0]
    assert citation.url.startswith("/docs/talk/")
    assert ask(opened(site), WINCH).answer.mode == "related-material"
    assert ask(opened(site), "Which colour is the safe?").answer.mode == "not-found"


def test_commands_need_no_flag_in_a_zensical_project(site: Path) -> None:
    assert "twelve millimetres" in command(site, "ask", QUESTION).stdout
    done = command(site, "eval", "--full")
    assert (done.returncode, "2 of 2 passed" in done.stdout) == (0, True), done.stdout
    assert "cites mooring#chains" in command(site, "why", QUESTION).stdout
    lines = command(site, "questions", "--export").stdout.splitlines()
    assert "mooring#chains" in {json.loads(line)["id"] for line in lines}
    # The only problem is that nobody has deployed the function, which notes need.
    (problem,) = (
        line for line in command(site, "doctor").stdout.splitlines() if line.startswith("✗")
    )
    assert "`notebook` needs a function" in problem


def test_diff_builds_an_earlier_zensical_site(site: Path) -> None:
    page = site / "docs" / "mooring.md"
    before = page.read_text("utf-8")
    put(page, before.replace("twelve", "ninety"))
    assert command(site, "build").returncode == 0
    done = command(site, "diff")
    assert "[-twelve-] {+ninety+} millimetres" in done.stdout, done.stdout + done.stderr
    # What the generator prints is no result.
    assert done.stdout.startswith("\nchain: ")
    put(page, before)
    assert command(site, "build").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("passages.words = 1", "passages.words: 1 is not between 40 and 2000"),
        ('notebook = "docs"', "lie in one another"),
        ("[", "zensical.toml is not TOML"),
    ],
)
def test_option_of_zensical_is_refused_in_the_plugins_words(
    tmp_path: Path, options: str, message: str
) -> None:
    write_zensical_site(tmp_path, options)
    done = command(tmp_path, "build")
    assert done.returncode == 1
    assert message in done.stderr


def test_init_writes_what_publishes_a_zensical_site(tmp_path: Path) -> None:
    text = "[project]\nsite_name = 'Harbour'\n"
    put(tmp_path / "docs" / "index.md", PAGES["index.md"])
    put(tmp_path / "zensical.toml", text)
    run_git(tmp_path, "init", "-q", "-b", "main")
    run_git(tmp_path, "remote", "add", "origin", "git@github.com:Ann/harbour-docs.git")
    done = command(tmp_path, "init")
    assert done.returncode == 0, done.stderr
    assert "answerable serve" in done.stdout
    assert "Set site_url in zensical.toml" in done.stdout
    # No plugin has to be named where `answerable build` does its work.
    assert (tmp_path / "zensical.toml").read_text("utf-8") == text
    workflow = yaml.safe_load((tmp_path / ".github/workflows/docs.yml").read_text("utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    install, *lines = [step["run"] for step in steps if "run" in step]
    assert install.startswith("pip install zensical 'mkdocs-answerable @ git+https://github.com/")
    assert lines == ["answerable build", "answerable eval --full"]
    for line in lines:
        done = command(tmp_path, *line.split()[1:])
        assert done.returncode == 0, done.stdout + done.stderr
    assert "ask-box.js" in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_published_zensical_site_answers_in_the_browser(tmp_path: Path, page: Page) -> None:
    write_zensical_site(tmp_path, "[project.plugins.answerable.widget]\nplacement = 'header'")
    done = command(tmp_path, "build", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "function").exists()
    config = json.loads((tmp_path / "site/assets/answerable/site.json").read_text("utf-8"))
    assert config["examples"] == [QUESTION]
    (tmp_path / "site").rename(tmp_path / "docs-of-host")
    (tmp_path / "host").mkdir()
    (tmp_path / "docs-of-host").rename(tmp_path / "host" / "docs")
    with static_server.serving(tmp_path / "host") as origin:
        page.goto(f"{origin}/docs/storms/index.html")
        box = page.locator(".md-header__inner answerable-ask")
        box.get_by_role("button", name="Ask", exact=True).first.click()
        box.locator("textarea").fill(QUESTION)
        box.locator("textarea").press("Enter")
        expect(box).to_contain_text("twelve millimetres")


def test_zensical_reads_a_mkdocs_file_too(tmp_path: Path) -> None:
    write_zensical_site(tmp_path)
    (tmp_path / "zensical.toml").unlink()
    data = {
        "site_name": "Harbour",
        "theme": {"name": "material"},
        "plugins": ["search", {"answerable": {"widget": {"placement": "inline"}}}],
    }
    put(tmp_path / "mkdocs.yml", yaml.safe_dump(data))
    # This Python has both, and then the plugin goes first.
    assert detect_generator(tmp_path / "mkdocs.yml") == "mkdocs"
    done = command(tmp_path, "build", "--command", "zensical build")
    assert done.returncode == 0, done.stdout + done.stderr
    html = (tmp_path / "site" / "mooring" / "index.html").read_text("utf-8")
    assert 'ask-box.js" data-placement="inline"></script>' in html
    assert "mooring" in opened(tmp_path).index.record_ids
    config = {**data, "theme": "lacking", "plugins": ["nobodys", {"answerable": {"gate": "x"}}]}
    put(tmp_path / "mkdocs.yml", f"{yaml.safe_dump(config)}hook: !!python/name:no.such.module x\n")
    assert detect_generator(tmp_path / "mkdocs.yml") == "zensical"
    assert "option 'gate': Expected type" in command(tmp_path, "doctor").stderr


def test_served_zensical_site_reloads_what_was_edited(tmp_path: Path, page: Page) -> None:
    write_zensical_site(tmp_path)
    with answerable_serve(tmp_path) as server:
        page.goto(f"http://127.0.0.1:{server.port}/docs/mooring/")
        expect(page.locator("article")).to_contain_text("twelve millimetres")
        text = PAGES["mooring.md"].replace("twelve", "ninety")
        put(tmp_path / "docs" / "mooring.md", text)
        # Nobody loads the page again but its own script.
        expect(page.locator("article")).to_contain_text("ninety millimetres")
        page.get_by_role("button", name="Ask", exact=True).first.click()
        page.get_by_role("textbox").last.fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.locator("answerable-ask")).to_contain_text("ninety millimetres")
    # What is served is not published.
    assert "ask-box.js" not in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_sphinx_site_is_built_asked_and_compared(tmp_path: Path) -> None:
    for path in (generated_sites.SOURCES / "sphinx").rglob("*.*"):
        inner = path.relative_to(generated_sites.SOURCES / "sphinx")
        put(tmp_path / "docs" / inner, path.read_text("utf-8"))
    gold = {"queries": [{**CHAIN, "expectCited": ["guide/mooring#chains"]}]}
    put(tmp_path / "eval" / "gold.yaml", yaml.safe_dump(gold))
    init_repository(tmp_path)
    done = command(tmp_path, "build", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "docs/_build/html").rglob("*.html"))
    assert all("ask-box.js" in page.read_text("utf-8") for page in pages)
    assert not (tmp_path / "docs" / "function").exists()
    assert set(opened(tmp_path).index.record_ids) == {"index", "storms", "guide/mooring"}
    assert "twelve millimetres" in command(tmp_path, "ask", QUESTION).stdout
    assert "1 of 1 passed" in command(tmp_path, "eval", "--full").stdout
    page = tmp_path / "docs" / "guide" / "mooring.rst"
    put(page, page.read_text("utf-8").replace("twelve", "ninety"))
    assert command(tmp_path, "build").returncode == 0
    assert "{+ninety+}" in command(tmp_path, "diff").stdout
    # Options have a file of their own, beside Sphinx's.
    put(tmp_path / "answerable.yml", "answers_in: browser\nwidget:\n  placement: none\n")
    assert command(tmp_path, "build").returncode == 0
    with answerable_serve(tmp_path) as server:
        assert "data-placement" not in server.request("GET", "/docs/storms.html")[1]


def test_a_corrected_leak_leaves_the_search_index_of_sphinx(tmp_path: Path) -> None:
    put(tmp_path / "docs" / "conf.py", "project = 'Harbour'\n")
    put(tmp_path / "docs" / "storms.rst", "Storms\n======\n\nThe harbour closes.\n")
    note = NOTES["winch.md"].replace("mooring.md#chains", "storms.rst")
    put(tmp_path / "notebook" / "winch.md", note)
    put(tmp_path / "answerable.yml", "notebook: notebook\n")
    body = NOTES["winch.md"].split("---\n")[-1].strip()
    put(
        tmp_path / "docs" / "index.rst",
        f"Harbour\n=======\n\n{body}\n\n.. toctree::\n\n   storms\n",
    )
    leaking = command(tmp_path, "build")
    assert "winch.md: words 1 to 8 of the note stand in" in leaking.stderr
    put(tmp_path / "docs" / "index.rst", "Harbour\n=======\n\n.. toctree::\n\n   storms\n")
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stderr
    assert "gearbox" not in (tmp_path / "docs/_build/html/searchindex.js").read_text("utf-8")


def test_a_command_of_hugo_builds_and_serves_its_site(tmp_path: Path) -> None:
    for path in (generated_sites.SOURCES / "hugo").rglob("*.*"):
        inner = path.relative_to(generated_sites.SOURCES / "hugo")
        put(tmp_path / inner, path.read_text("utf-8"))
    done = command(tmp_path, "build", "--command", "hugo --quiet", "--site", "public")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ask-box.js" in (tmp_path / "public" / "index.html").read_text("utf-8")
    with answerable_serve(tmp_path, "public", "--command", "hugo --quiet") as server:
        page = tmp_path / "content" / "guide" / "mooring.md"
        put(page, page.read_text("utf-8").replace("twelve", "ninety"))
        until(lambda: "ninety" in server.ask("/docs/_answerable/answer", QUESTION)["answer"])
        put(page, page.read_text("utf-8").replace("ninety", "twelve"))
        until(lambda: "twelve" in server.ask("/docs/_answerable/answer", QUESTION)["answer"])
    put(
        tmp_path / "answerable.yml",
        "command: hugo --quiet\nsite_dir: public\ndocs_dir: content\n",
    )
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "twelve millimetres" in command(tmp_path, "ask", QUESTION).stdout
