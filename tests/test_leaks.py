"""A planted leak through each channel fails the build, and the error names note and place only."""

import json
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.bundle import open_bundle
from sites import NOTES, PAGES, build, put, write_site

SECRET = "The gearbox of the electric winch was taken from a scrapped tractor in the spring"
SAID = f"They say that {SECRET[0].lower()}{SECRET[1:]}."
# Every word of the secret that stands nowhere else in what a build prints.
PRIVATE = ("gearbox", "scrapped", "tractor")
MACROS = """
from pathlib import Path


def define_env(env):
    @env.macro
    def winch():
        return Path(env.project_dir, "notebook", "winch.md").read_text().split("---")[2]
"""


def failed(folder: Path, *args: str) -> str:
    """What the build prints; it has to fail and to repeat no private word."""
    done = build(folder, *args)
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "winch.md" in said
    for word in PRIVATE:
        assert word not in said.lower()
    return said


def site(folder: Path, pages: dict[str, str] | None = None, **config: Any) -> Path:
    return write_site(folder, pages={**PAGES, **(pages or {})}, notes=NOTES, **config)


def test_a_clean_site_builds(tmp_path: Path) -> None:
    done = build(site(tmp_path), "--strict")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("field", ["label", "locator", "id"])
def test_a_public_field_that_repeats_the_note(tmp_path: Path, field: str) -> None:
    words = "was taken from a scrapped"
    value = words.replace(" ", "-") if field == "id" else words
    fields = {"label": "Plans", "about": "mooring.md", field: value}
    head = "\n".join(f"{key}: {text}" for key, text in fields.items())
    folder = write_site(tmp_path, notes={"winch.md": f"---\n{head}\n---\n\n{SECRET}.\n"})
    assert f"winch.md: {field}" in failed(folder)


def test_a_page_that_quotes_the_note(tmp_path: Path) -> None:
    said = failed(site(tmp_path, {"rumours.md": f"# Rumours\n\n{SAID}\n"}))
    assert "site/rumours/index.html, line " in said
    assert "published_in" in said
    assert not (tmp_path / "function").exists()


def test_a_page_that_quotes_it_over_markup(tmp_path: Path) -> None:
    marked = SAID.replace("winch was taken", "[winch *was*](mooring.md) `taken`")
    assert "site/rumours/index.html" in failed(site(tmp_path, {"rumours.md": f"# R\n\n{marked}\n"}))


def test_front_matter_of_a_page(tmp_path: Path) -> None:
    page = f"---\naliases: ['{SAID}']\n---\n\n# Rumours\n\nNothing here.\n"
    assert "the front matter of rumours.md" in failed(site(tmp_path, {"rumours.md": page}))


def test_a_name_of_a_file(tmp_path: Path) -> None:
    name = SECRET.lower().replace(" ", "-")
    folder = site(tmp_path)
    put(folder / "docs" / "files" / f"{name}.csv", "a,b\n")
    assert "site/files/…" in failed(folder)


def test_a_snippet_include(tmp_path: Path) -> None:
    extension: Any = {"pymdownx.snippets": {"base_path": [str(tmp_path / "notebook")]}}
    pages = {"rumours.md": '# Rumours\n\n--8<-- "winch.md"\n'}
    said = failed(site(tmp_path, pages, markdown_extensions=[extension]))
    assert "site/rumours/index.html" in said


def test_a_macro(tmp_path: Path) -> None:
    put(tmp_path / "main.py", MACROS)
    pages = {"rumours.md": "# Rumours\n\n{{ winch() }}\n"}
    plugins: Any = ["macros", {"answerable": {"notebook": "notebook"}}]
    assert "site/rumours/index.html" in failed(site(tmp_path, pages, plugins=plugins))


def test_a_theme_folder(tmp_path: Path) -> None:
    put(tmp_path / "theme" / "js" / "own.js", f"const hint = {json.dumps(SAID)};\n")
    theme = {"name": "mkdocs", "custom_dir": "theme"}
    assert "site/js/own.js, line 1" in failed(site(tmp_path, theme=theme))


def test_a_theme_template(tmp_path: Path) -> None:
    put(tmp_path / "theme" / "extra.html", f"<!-- {SAID} -->\n")
    theme = {"name": "mkdocs", "custom_dir": "theme", "static_templates": ["extra.html"]}
    assert "site/extra.html" in failed(site(tmp_path, theme=theme))


def test_a_search_index(tmp_path: Path) -> None:
    plugins: Any = ["search", {"answerable": {"notebook": "notebook"}}]
    said = failed(site(tmp_path, {"rumours.md": f"# Rumours\n\n{SAID}\n"}, plugins=plugins))
    assert "more places" in said


@pytest.mark.parametrize("option", ["enrichment", "abbreviations"])
def test_what_pages_are_found_by(tmp_path: Path, option: str) -> None:
    """No term may come from a note: the terms of a passage are in the bundle."""
    text = f"mooring: {SAID}\n" if option == "enrichment" else f"*[EW]: {SAID}\n"
    folder = write_site(tmp_path, notes=NOTES, options={option: "extra.txt"})
    put(folder / "extra.txt", text)
    assert option in failed(folder)


def test_a_site_name(tmp_path: Path) -> None:
    assert "site/" in failed(site(tmp_path, site_name=SECRET))


def test_a_route_that_repeats_the_note(tmp_path: Path) -> None:
    options = {"answers": {"route": f"{SECRET}: {{label}}"}}
    assert "site.json" in failed(write_site(tmp_path, notes=NOTES, options=options))


def test_a_page_that_the_note_lists_may_quote_it(tmp_path: Path) -> None:
    listed = NOTES["winch.md"].replace("about:", "published_in: [rumours.md]\nabout:")
    pages = {**PAGES, "rumours.md": f"# Rumours\n\n{SAID}\n"}
    plugins: Any = ["search", {"answerable": {"notebook": "notebook"}}]
    folder = write_site(tmp_path, pages=pages, notes={"winch.md": listed}, plugins=plugins)
    done = build(folder, "--strict")
    assert done.returncode == 0, done.stderr
    put(folder / "docs" / "again.md", f"# Again\n\n{SAID}\n")
    assert "site/again/index.html" in failed(folder)


def test_a_leak_leaves_the_last_bundle(tmp_path: Path) -> None:
    folder = site(tmp_path)
    assert build(folder).returncode == 0
    before = open_bundle(folder / "function" / "bundle").manifest.id
    put(folder / "docs" / "rumours.md", f"# Rumours\n\n{SAID}\n")
    failed(folder)
    assert open_bundle(folder / "function" / "bundle").manifest.id == before


LATE = """
from pathlib import Path
from mkdocs.plugins import event_priority


@event_priority(-250)
def on_post_build(config):
    note = Path(config.config_file_path).parent / "notebook" / "winch.md"
    text = note.read_text(encoding="utf-8").split("---")[2]
    Path(config.site_dir, "llms.txt").write_text(text, encoding="utf-8")
"""


def test_a_file_that_is_written_late(tmp_path: Path) -> None:
    put(tmp_path / "hooks.py", LATE)
    assert "site/llms.txt, line " in failed(site(tmp_path, hooks=["hooks.py"]))


def test_a_label_that_repeats_another_note(tmp_path: Path) -> None:
    other = f"---\nlabel: {SECRET}\nabout: storms.md\n---\n\nLadders are kept dry.\n"
    folder = write_site(tmp_path, notes={**NOTES, "ladder.md": other})
    assert "hints" in failed(folder)
