"""Zensical, Sphinx and Hugo, really built: the commands read the options that the plugin reads."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from answerable.indexing.generators import detect_generator, find_config_file
from answerable.serve.stores.bundle import Bundle
from support import generated_sites, sites, static_server
from support.deadlines import until
from support.server_processes import answerable_serve, free_port, run
from support.sites import NOTES, ask, command, opened, put

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
    put(folder / ".gitignore", "/site/\n/.cache/\n/function/\n")
    return folder


def run_git(folder: Path, *args: str) -> None:
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@harbour.example")
    subprocess.run(["git", *names, *args], cwd=folder, check=True, capture_output=True)


def describe(bundle: Bundle) -> dict[str, object]:
    rows = range(bundle.manifest.counts["passages"])
    passages = [bundle.passage(row) for row in rows]
    return {
        "records": sorted(bundle.record_ids),
        "passages": sorted((p.id, p.url, p.title, p.text) for p in passages),
        # The id is made by a key of the notebook.
        "hints": [(hint.label, hint.url) for hint in bundle.hints],
        "site": (bundle.site.name, bundle.site.url, bundle.site.language),
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of Zensical with notes, front matter, a transcript and a gold set, built."""
    folder = write_zensical_site(tmp_path_factory.mktemp("zensical"), 'notebook = "notebook"')
    put(folder / "notebook" / "winch.md", NOTES["winch.md"])
    run_git(folder, "init", "-q")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "Harbour")
    done = command(folder, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_zensical_site_is_indexed_as_mkdocs_indexes_it(site: Path, tmp_path: Path) -> None:
    sites.write_site(
        tmp_path,
        PAGES,
        NOTES,
        site_url="https://harbour.example/docs/",
        theme={"name": "material"},
    )
    put(tmp_path / "eval" / "gold.yaml", yaml.safe_dump(GOLD))
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert describe(opened(site)) == describe(opened(tmp_path))
    searches = [
        command(folder, "ask", "--places", "--json", "dolphin berth").stdout
        for folder in (site, tmp_path)
    ]
    assert "mooring#" in searches[0]
    assert searches[0] == searches[1]
    assert (
        ask(opened(site), "Who boards every tanker?")
        .answer.citations[0]
        .url.startswith("/docs/talk/")
    )
    assert ask(opened(site), WINCH).answer.mode == "related-material"
    assert ask(opened(site), "Which colour is the safe?").answer.mode == "not-found"


def test_commands_need_no_flag_in_a_zensical_project(site: Path) -> None:
    assert "twelve millimetres" in command(site, "ask", QUESTION).stdout
    done = command(site, "eval", "--full")
    assert (done.returncode, "2 of 2 passed" in done.stdout) == (0, True), done.stdout
    assert "cites mooring#chains" in command(site, "why", QUESTION).stdout
    lines = command(site, "questions", "--export").stdout.splitlines()
    assert "mooring#chains" in {json.loads(line)["id"] for line in lines}
    done = command(site, "doctor")
    assert "zensical.toml is read by answerable" in done.stdout
    # The only problem is that nobody has deployed the function, which notes need.
    assert [line for line in done.stdout.splitlines() if line.startswith("✗")] == [
        "✗ answers_in: `notebook` needs a function (private notes stay on a server); deploy the "
        "function and set widget.endpoint, or remove `notebook`"
    ]
    assert "0 of 2 verdicts flip" in command(site, "eval", "--dimensions", "256").stdout


def test_diff_builds_a_zensical_site_without_publishing_it(site: Path) -> None:
    page = site / "docs" / "mooring.md"
    before, built = page.read_text("utf-8"), (site / "site/mooring/index.html").read_bytes()
    put(page, before.replace("twelve", "ninety"))
    try:
        done = command(site, "diff")
        assert "[-twelve-] {+ninety+} millimetres" in done.stdout, done.stdout + done.stderr
        # What the generator prints is no result.
        assert "Build started" in done.stderr
    finally:
        put(page, before)
    assert (site / "site" / "mooring" / "index.html").read_bytes() == built


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            'gate = "all"',
            "option 'gate': Expected type",
        ),
        ("passages.words = 1", "passages.words: 1 is not between 40 and 2000"),
        ('notebook = "gone"', "gone' isn't an existing directory"),
        ('notebook = "docs"', "lie in one another"),
        ("widget = 1", "option 'widget'"),
        ("[", "zensical.toml is not TOML"),
    ],
)
def test_option_of_zensical_is_refused_in_the_plugins_words(
    tmp_path: Path, options: str, message: str
) -> None:
    write_zensical_site(tmp_path, options)
    done = command(tmp_path, "doctor") if options == "[" else command(tmp_path, "build")
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_option_of_zensical_is_named_with_the_one_it_may_mean(tmp_path: Path) -> None:
    write_zensical_site(tmp_path, 'endpont = "/ask/"')
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stderr
    assert "Unrecognised configuration name: endpont. Did you mean widget.endpoint?" in done.stderr


def test_questions_of_a_zensical_site_help_to_find_a_section(tmp_path: Path) -> None:
    write_zensical_site(tmp_path)
    assert command(tmp_path, "build").returncode == 0
    question = "Which tackle is strong enough for a gale?"
    assert ask(opened(tmp_path), question).answer.mode == "not-found"
    line = json.dumps({"id": "mooring#chains", "questions": [question]})
    done = command(tmp_path, "questions", "--import", "-", typed=f"{line}\n")
    assert done.returncode == 0, done.stderr
    assert command(tmp_path, "build").returncode == 0
    [claim] = ask(opened(tmp_path), question).answer.claims
    assert "twelve millimetres" in claim.text


def test_init_writes_what_publishes_a_zensical_site(tmp_path: Path) -> None:
    put(tmp_path / "docs" / "index.md", PAGES["index.md"])
    text = "# Ours\n[project]\nsite_name = 'Harbour'\n\n[project.theme]\nfont = false"
    put(tmp_path / "zensical.toml", text)
    run_git(tmp_path, "init", "-q", "-b", "main")
    run_git(tmp_path, "remote", "add", "origin", "git@github.com:Ann/harbour-docs.git")
    done = command(tmp_path, "init", "--site-url", "https://docs.example/")
    assert done.returncode == 0, done.stderr
    assert "answerable serve" in done.stdout
    config = tomllib.loads((tmp_path / "zensical.toml").read_text("utf-8"))["project"]
    assert config == {
        "site_name": "Harbour",
        "site_url": "https://docs.example/",
        "theme": {"font": False},
        "plugins": {"answerable": {}},
    }
    workflow = yaml.safe_load((tmp_path / ".github/workflows/docs.yml").read_text("utf-8"))
    steps = workflow["jobs"]["build"]["steps"]
    lines = [step["run"] for step in steps if "run" in step]
    install = "pip install zensical mkdocs-answerable"
    assert lines == [install, "answerable build", "answerable eval --full"]
    # The command that builds this site is named, and not MkDocs'.
    assert "run `answerable build` first" in command(tmp_path, "ask", QUESTION).stderr
    for line in lines[1:]:
        done = command(tmp_path, *line.split()[1:])
        assert done.returncode == 0, done.stdout + done.stderr
    assert "answerable-ask" in (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "✓ .github/workflows/docs.yml builds the site" in command(tmp_path, "doctor").stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project]\nplugins = ['search']\n", "zensical.toml: plugins is a list"),
        ("[project\n", "zensical.toml is not TOML"),
    ],
)
def test_init_leaves_a_file_that_it_cannot_edit(tmp_path: Path, text: str, message: str) -> None:
    put(tmp_path / "zensical.toml", text)
    assert message in command(tmp_path, "init").stderr
    assert (tmp_path / "zensical.toml").read_text("utf-8") == text


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
        box.locator("textarea").fill("Who sang at the opera in Vienna?")
        box.locator("textarea").press("Enter")
        expect(box).to_have_attribute("state", "not-found")
        box.locator(".search").click()
        page.wait_for_function(
            "[...document.querySelectorAll('*')].some(e => e.shadowRoot?.querySelector('input')"
            "?.value.includes('opera')) || location.search.includes('opera')"
        )


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
    assert re.search(r'<answerable-ask placement="inline"></answerable-ask>\s*</article>', html)
    assert "mooring" in opened(tmp_path).record_ids
    config = {**data, "theme": "lacking", "plugins": ["nobodys", {"answerable": {"gate": "x"}}]}
    put(tmp_path / "mkdocs.yml", f"{yaml.safe_dump(config)}hook: !!python/name:no.such.module x\n")
    assert detect_generator(tmp_path / "mkdocs.yml") == "zensical"
    assert "option 'gate': Expected one of" in command(tmp_path, "doctor").stderr


def test_first_file_that_names_the_plugin_configures_a_site(tmp_path: Path) -> None:
    assert find_config_file(tmp_path) == tmp_path / "mkdocs.yml"
    for name in ("docs/conf.py", "mkdocs.yml", "zensical.toml"):
        put(tmp_path / name, "")
        assert find_config_file(tmp_path) == tmp_path / name
    put(tmp_path / "mkdocs.yml", "plugins: [answerable]\n")
    assert find_config_file(tmp_path) == tmp_path / "mkdocs.yml"
    put(tmp_path / "answerable.yml", "command: make\n")
    assert find_config_file(tmp_path) == tmp_path / "answerable.yml"


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
        put(tmp_path / "zensical.toml", ZENSICAL.format(options='gate = "all"'))
        until(lambda: "(answers come from the last good index)" in server.output)
        assert "ninety" in server.ask("/docs/_answerable/answer", QUESTION)["answer"]
    # What is served is not published.
    assert "answerable-ask" not in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_sphinx_site_is_built_asked_and_compared(tmp_path: Path) -> None:
    for path in (generated_sites.SOURCES / "sphinx").rglob("*.*"):
        inner = path.relative_to(generated_sites.SOURCES / "sphinx")
        put(tmp_path / "docs" / inner, path.read_text("utf-8"))
    gold = {"queries": [{**CHAIN, "expectCited": ["guide/mooring#chains"]}]}
    put(tmp_path / "eval" / "gold.yaml", yaml.safe_dump(gold))
    put(tmp_path / ".gitignore", "/docs/_build/\n/.cache/\n")
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-qm", "Harbour")
    done = command(tmp_path, "build", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((tmp_path / "docs/_build/html").rglob("*.html"))
    assert all("answerable-ask" in page.read_text("utf-8") for page in pages)
    assert not (tmp_path / "docs" / "function").exists()
    assert set(opened(tmp_path).record_ids) == {"index", "storms", "guide/mooring"}
    assert "twelve millimetres" in command(tmp_path, "ask", QUESTION).stdout
    assert "1 of 1 passed" in command(tmp_path, "eval", "--full").stdout
    page = tmp_path / "docs" / "guide" / "mooring.rst"
    put(page, page.read_text("utf-8").replace("twelve", "ninety"))
    assert "{+ninety+}" in command(tmp_path, "diff").stdout
    # Options have a file of their own, beside Sphinx's.
    put(tmp_path / "answerable.yml", "answers_in: browser\nwidget:\n  placement: none\n")
    assert command(tmp_path, "build").returncode == 0
    with answerable_serve(tmp_path) as server:
        assert "answerable-ask>" not in server.request("GET", "/docs/storms.html")[1]


def test_any_command_builds_a_site(tmp_path: Path) -> None:
    for path in (generated_sites.SOURCES / "hugo").rglob("*.*"):
        inner = path.relative_to(generated_sites.SOURCES / "hugo")
        put(tmp_path / inner, path.read_text("utf-8"))
    done = command(tmp_path, "build", "--command", "hugo --quiet", "--site", "public")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answerable-ask" in (tmp_path / "public" / "index.html").read_text("utf-8")
    with answerable_serve(tmp_path, "public", "--command", "hugo --quiet") as server:
        page = tmp_path / "content" / "guide" / "mooring.md"
        put(page, page.read_text("utf-8").replace("twelve", "ninety"))
        until(lambda: "ninety" in server.ask("/docs/_answerable/answer", QUESTION)["answer"])
        put(page, page.read_text("utf-8").replace("ninety", "twelve"))
        until(lambda: "twelve" in server.ask("/docs/_answerable/answer", QUESTION)["answer"])
    text = "command: hugo --quiet\nsite_dir: public\ndocs_dir: content\n"
    put(tmp_path / "answerable.yml", text)
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "twelve millimetres" in command(tmp_path, "ask", QUESTION).stdout
    put(tmp_path / "answerable.yml", text.replace("hugo", "false"))
    done = command(tmp_path, "build")
    assert done.returncode == 1
    assert "Error: `false --quiet` has failed with the exit status 1" in done.stderr
    put(tmp_path / "answerable.yml", "site_dir: public\n")
    # A site that nothing builds here is indexed as it is.
    assert command(tmp_path, "build").returncode == 0


def test_build_and_serve_hand_a_site_of_the_plugin_to_mkdocs(tmp_path: Path) -> None:
    sites.write_site(tmp_path, options={"function": None})
    port = free_port()
    code = "from answerable.cli import main; main()"
    line = [sys.executable, "-u", "-c", code, "serve", f"--port={port}"]
    with run(line, tmp_path, lambda running: "Serving on" in running.output, port) as server:
        assert "twelve" in server.ask("/_answerable/answer", QUESTION)["answer"]
    put(tmp_path / "mkdocs.yml", "site_name: Harbour\n")
    done = command(tmp_path, "build")
    assert "`answerable` is not among them; add it" in done.stderr
    assert not (tmp_path / "site").exists()


def test_folder_without_a_configuration_says_what_to_write(tmp_path: Path) -> None:
    done = command(tmp_path, "build")
    assert done.returncode == 1
    assert "there is no mkdocs.yml: run this in the site's folder" in done.stderr


def test_doctor_tells_that_a_generator_has_overwritten_the_ask_box(tmp_path: Path) -> None:
    put(tmp_path / "answerable.yml", "site_dir: site\n")
    put(tmp_path / "site" / "index.html", "<body><main><h1>A</h1><p>Boat.</p></main></body>")
    problem = "index.html has no ask box; run `answerable build`"
    assert problem in command(tmp_path, "doctor").stdout
    assert sites.index(tmp_path).returncode == 0
    assert problem not in command(tmp_path, "doctor").stdout
