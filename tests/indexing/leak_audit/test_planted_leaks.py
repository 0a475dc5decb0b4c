"""A planted leak through each channel fails the build, and the error names note and place only."""

import base64
import gzip
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.stores.bundle import open_bundle
from support.sites import NOTES, PAGES, build, put, write_site

SECRET = "The gearbox of the electric winch was taken from a scrapped tractor in the spring"
SAID = f"They say that {SECRET[0].lower()}{SECRET[1:]}."
# Every word of the secret that stands nowhere else in what a build prints.
PRIVATE = ("gearbox", "scrapped", "tractor")
ABOUT = "---\nlabel: Plans for the winch\nabout: mooring.md\n{}---\n\n"
MATERIAL: dict[str, Any] = {"theme": {"name": "material"}, "plugins": ["search"]}
PERMISSION = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this "
    'software and associated documentation files (the "Software"), to deal in the Software '
    "without restriction."
)
# By name: the note, what is added to the page on storms, and how the site is configured.
INNOCENT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "todo": ("TODO", "", MATERIAL),
    "todo-on-a-page": ("TODO", "TODO: measure the lamp.", {}),
    "end": ("The end", "", MATERIAL),
    "end-on-a-page": ("The end.", "Coil the end of the rope. The end!", {}),
    "above": ("See above.", "For the buoy, see above.", {"plugins": ["search"]}),
    "soon": ("Coming soon", "A chart is coming soon.", {}),
    "licence": ("MIT license", "It has the MIT license.", {}),
    "permission": (PERMISSION, "", MATERIAL),
    "keyword": ("function", "", MATERIAL),
    "code": ("return null", "`return null`", MATERIAL),
    "title": ("Mooring", "", {}),
    "heading": ("# Lanterns\n", "## Lanterns\n\nMore on lanterns in [Mooring](mooring.md).", {}),
    "site-name": ("Harbour", "", MATERIAL),
    "number": ("12", "Knot 12 and 13.", MATERIAL),
    "shouting": ("DONE!!!", "Then you are done.", {"plugins": ["search"]}),
    "markdown": ("- [ ] **Draft**", "This is a draft.", MATERIAL),
}
# Without it, a strict build warns that nobody answers the ask box of a site with notes.
ON_A_FUNCTION = {"notebook": "notebook", "answers_in": "function"}
MACROS = """
from pathlib import Path


def define_env(env):
    @env.macro
    def winch():
        return Path(env.project_dir, "notebook", "winch.md").read_text().split("---")[2]
"""


def failed(folder: Path, *args: str) -> str:
    """Return the output of a build that has to fail and to repeat no private word."""
    done = build(folder, *args)
    output = done.stdout + done.stderr
    assert done.returncode != 0, output
    assert "winch.md" in output
    for word in PRIVATE:
        assert word not in output.lower()
    return output


def site(folder: Path, pages: dict[str, str] | None = None, **config: Any) -> Path:
    return write_site(folder, pages={**PAGES, **(pages or {})}, notes=NOTES, **config)


def test_a_clean_site_builds(tmp_path: Path) -> None:
    plugins: Any = [{"answerable": ON_A_FUNCTION}]
    done = build(site(tmp_path, plugins=plugins), "--strict")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", INNOCENT)
def test_an_innocent_short_note_stops_no_build(tmp_path: Path, name: str) -> None:
    body, addition, config = INNOCENT[name]
    plugins = [*config.get("plugins", ()), {"answerable": ON_A_FUNCTION}]
    pages = {
        **PAGES,
        "storms.md": f"{PAGES['storms.md']}\n{addition}\n",
        "log.md": "# Log\n\nThe lanterns of Harbour burn.\n",
    }
    notes = {"winch.md": f"{ABOUT.format('')}{body}\n"}
    folder = write_site(tmp_path, pages, notes, **{**config, "plugins": plugins})
    done = build(folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("body", ["Xylograph", "Sell to Initech", f"{SECRET}."])
def test_rare_words_of_a_note_fail_the_build_however_short_it_is(tmp_path: Path, body: str) -> None:
    pages = {**PAGES, "rumours.md": f"# Rumours\n\nThey say: {body}\n"}
    folder = write_site(tmp_path, pages, {"winch.md": f"{ABOUT.format('')}{body}\n"}, **MATERIAL)
    put(folder / "mkdocs.yml", (folder / "mkdocs.yml").read_text().replace(
        "- search", "- search\n- answerable: {notebook: notebook}"))  # fmt: skip
    assert "site/rumours/index.html, line " in failed(folder)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("docs/js/own.js", f"const hint = {json.dumps(SAID)};\n"),
        ("docs/files/talk.txt", SAID),
        ("theme/js/own.js", f"// {SAID}\n"),
        ("theme/extra.html", f"<!-- {SAID} -->\n"),
    ],
)
def test_the_remedy_that_is_named_lets_a_published_file_repeat_the_note(
    tmp_path: Path, file: str, text: str
) -> None:
    theme = {"name": "material", "custom_dir": "theme", "static_templates": ["extra.html"]}
    note = f"{ABOUT}{SECRET}.\n"
    put(tmp_path / "theme" / "extra.html", "<p>Nothing here.</p>\n")
    folder = write_site(tmp_path, notes={"winch.md": note.format("")}, theme=theme)
    put(folder / file, text)
    published = file.split("/", 1)[1]
    assert f"or list {published} in the note's published_in" in failed(folder)
    put(folder / "notebook" / "winch.md", note.format(f"published_in: [{published}]\n"))
    done = build(folder)
    assert done.returncode == 0, done.stderr
    put(folder / "docs" / "other.txt", SAID)
    assert "site/other.txt" in failed(folder)


@pytest.mark.parametrize(
    "page",
    [
        f"<span id='{SECRET.replace(' ', '_')}'></span>",
        f"[rumours](https://harbour.example/{SECRET.replace(' ', '_')}#x)",
        f"<i data-hint='{SECRET.replace(' ', '_', 5)}'></i>",
        f"`{SECRET.lower().replace(' ', '_')}`",
        f"<i data-hint='{base64.b64encode(SAID.encode()).decode()}'></i>",
        f"<a href='data:text/html;base64,{base64.b64encode(f'<p>{SAID}</p>'.encode()).decode()}'>"
        "x</a>",
        f"<pre>{base64.encodebytes(SAID.encode()).decode()}</pre>",
        f"<i data-hint={base64.urlsafe_b64encode(gzip.compress(SAID.encode())).decode()}></i>",
    ],
    ids=range(8),
)
def test_joined_and_encoded_words_fail_the_build(tmp_path: Path, page: str) -> None:
    assert "site/rumours/index.html" in failed(site(tmp_path, {"rumours.md": f"# R\n\n{page}\n"}))


@pytest.mark.parametrize("field", ["label", "locator", "id"])
def test_a_public_field_that_repeats_the_note_fails_the_build(tmp_path: Path, field: str) -> None:
    words = "was taken from a scrapped"
    value = words.replace(" ", "-") if field == "id" else words
    fields = {"label": "Plans", "about": "mooring.md", field: value}
    head = "\n".join(f"{key}: {text}" for key, text in fields.items())
    folder = write_site(tmp_path, notes={"winch.md": f"---\n{head}\n---\n\n{SECRET}.\n"})
    assert f"winch.md: {field}" in failed(folder)


def test_a_page_that_quotes_the_note_fails_the_build(tmp_path: Path) -> None:
    error = failed(site(tmp_path, {"rumours.md": f"# Rumours\n\n{SAID}\n"}))
    assert "site/rumours/index.html, line " in error
    assert "published_in" in error
    assert not (tmp_path / "function").exists()


def test_a_page_that_quotes_the_note_over_markup_fails_the_build(tmp_path: Path) -> None:
    marked = SAID.replace("winch was taken", "[winch *was*](mooring.md) `taken`")
    assert "site/rumours/index.html" in failed(site(tmp_path, {"rumours.md": f"# R\n\n{marked}\n"}))


def test_a_leak_in_front_matter_of_a_page_fails_the_build(tmp_path: Path) -> None:
    page = f"---\naliases: ['{SAID}']\n---\n\n# Rumours\n\nNothing here.\n"
    assert "the front matter of rumours.md" in failed(site(tmp_path, {"rumours.md": page}))


def test_a_leak_in_a_file_name_fails_the_build(tmp_path: Path) -> None:
    name = SECRET.lower().replace(" ", "-")
    folder = site(tmp_path)
    put(folder / "docs" / "files" / f"{name}.csv", "a,b\n")
    assert "site/files/…" in failed(folder)


def test_a_leak_by_a_snippet_include_fails_the_build(tmp_path: Path) -> None:
    extension: Any = {"pymdownx.snippets": {"base_path": [str(tmp_path / "notebook")]}}
    pages = {"rumours.md": '# Rumours\n\n--8<-- "winch.md"\n'}
    error = failed(site(tmp_path, pages, markdown_extensions=[extension]))
    assert "site/rumours/index.html" in error


def test_a_leak_by_a_macro_fails_the_build(tmp_path: Path) -> None:
    put(tmp_path / "main.py", MACROS)
    pages = {"rumours.md": "# Rumours\n\n{{ winch() }}\n"}
    plugins: Any = ["macros", {"answerable": {"notebook": "notebook"}}]
    assert "site/rumours/index.html" in failed(site(tmp_path, pages, plugins=plugins))


def test_a_leak_in_a_theme_folder_fails_the_build(tmp_path: Path) -> None:
    put(tmp_path / "theme" / "js" / "own.js", f"const hint = {json.dumps(SAID)};\n")
    theme = {"name": "mkdocs", "custom_dir": "theme"}
    assert "site/js/own.js, line 1" in failed(site(tmp_path, theme=theme))


def test_a_leak_in_a_theme_template_fails_the_build(tmp_path: Path) -> None:
    put(tmp_path / "theme" / "extra.html", f"<!-- {SAID} -->\n")
    theme = {"name": "mkdocs", "custom_dir": "theme", "static_templates": ["extra.html"]}
    assert "site/extra.html" in failed(site(tmp_path, theme=theme))


def test_a_leak_in_a_search_index_fails_the_build(tmp_path: Path) -> None:
    plugins: Any = ["search", {"answerable": {"notebook": "notebook"}}]
    error = failed(site(tmp_path, {"rumours.md": f"# Rumours\n\n{SAID}\n"}, plugins=plugins))
    assert "more places" in error


def test_a_copied_transcript_fails_the_build(tmp_path: Path) -> None:
    lines = ["The gearbox of the", "electric winch was", "taken from a scrapped tractor"]
    cues = (f"00:0{n}.000 --> 00:0{n + 1}.000\n{line}\n\n" for n, line in enumerate(lines))
    talk = f"WEBVTT\n\n{''.join(cues)}"
    head = "---\nlabel: Talk\nabout: mooring.md\n---\n"
    folder = write_site(tmp_path, notes={"winch.md.vtt": head + talk})
    put(folder / "docs" / "files" / "talk.vtt", talk)
    assert "site/files/talk.vtt, line " in failed(folder)


def test_a_leak_in_lines_of_a_drawing_fails_the_build(tmp_path: Path) -> None:
    folder = site(tmp_path)
    lines = "".join(f"<text y='{n}'>{word}</text>" for n, word in enumerate(SECRET.split()))
    put(folder / "docs" / "plan.svg", f"<svg xmlns='http://www.w3.org/2000/svg'>{lines}</svg>")
    assert "site/plan.svg" in failed(folder)


def test_a_leak_around_a_comment_fails_the_build(tmp_path: Path) -> None:
    parts = SAID.replace(" was taken", " <!-- we think --> was taken")
    assert "site/rumours/index.html" in failed(site(tmp_path, {"rumours.md": f"# R\n\n{parts}\n"}))


def test_a_leak_in_a_latin_1_table_fails_the_build(tmp_path: Path) -> None:
    published = SECRET.replace("tractor", "tract\u00f6r").replace("spring", "spr\u00efng")
    folder = write_site(tmp_path, notes={"winch.md": NOTES["winch.md"].replace(SECRET, published)})
    (folder / "docs" / "table.csv").write_bytes(f"caf\u00e9;{published[20:]}\n".encode("latin-1"))
    assert "site/table.csv" in failed(folder)


def test_a_leak_in_a_linked_folder_fails_the_build(tmp_path: Path) -> None:
    put(tmp_path / "far" / "deep" / "talk.txt", SAID)
    hook = "from pathlib import Path\n\ndef on_post_build(config):\n    "
    hook += (
        "Path(config.site_dir, 'far').symlink_to(Path(config.config_file_path).parent / 'far')\n"
    )
    put(tmp_path / "hook.py", hook)
    assert "site/far/deep/talk.txt" in failed(site(tmp_path, hooks=["hook.py"]))


@pytest.mark.parametrize("option", ["enrichment", "abbreviations"])
def test_a_leak_in_enrichment_or_abbreviations_fails_the_build(tmp_path: Path, option: str) -> None:
    """No term may come from a note: the terms of a passage are in the bundle."""
    text = f"mooring: {SAID}\n" if option == "enrichment" else f"*[EW]: {SAID}\n"
    folder = write_site(tmp_path, notes=NOTES, options={option: "extra.txt"})
    put(folder / "extra.txt", text)
    assert option in failed(folder)


def test_a_leak_in_the_site_name_fails_the_build(tmp_path: Path) -> None:
    assert "site/" in failed(site(tmp_path, site_name=SECRET))


def test_a_route_that_repeats_the_note_fails_the_build(tmp_path: Path) -> None:
    options = {"answers": {"route": f"{SECRET}: {{label}}"}}
    assert "site.route" in failed(write_site(tmp_path, notes=NOTES, options=options))


def test_a_page_that_the_note_lists_may_quote_it(tmp_path: Path) -> None:
    listed = NOTES["winch.md"].replace("about:", "published_in: [rumours.md]\nabout:")
    pages = {**PAGES, "rumours.md": f"# Rumours\n\n{SAID}\n"}
    plugins: Any = ["search", {"answerable": ON_A_FUNCTION}]
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


def test_a_draft_is_private_too(tmp_path: Path) -> None:
    draft = f"---\ndraft: true\n---\n\n{SECRET}.\n"
    pages = {**PAGES, "rumours.md": f"# Rumours\n\n{SAID}\n"}
    folder = write_site(tmp_path, pages=pages, notes={"winch.md": draft})
    assert "site/rumours/index.html" in failed(folder)


def test_a_dirty_build_without_a_page_cache_is_audited(tmp_path: Path) -> None:
    folder = site(tmp_path)
    assert build(folder).returncode == 0
    shutil.rmtree(folder / ".cache")
    manifest = (folder / "function" / "bundle" / "manifest.json").read_bytes()
    put(folder / "docs" / "rumours.md", f"# Rumours\n\n{SAID}\n")
    assert "site/rumours/index.html, line " in failed(folder, "--dirty")
    assert (folder / "function" / "bundle" / "manifest.json").read_bytes() == manifest


def test_a_dirty_build_without_a_page_cache_lets_a_listed_page_repeat_the_note(
    tmp_path: Path,
) -> None:
    listed = NOTES["winch.md"].replace("about:", "published_in: [rumours.md]\nabout:")
    pages = {**PAGES, "rumours.md": f"# Rumours\n\n{SAID}\n"}
    folder = write_site(tmp_path, pages=pages, notes={"winch.md": listed})
    assert build(folder).returncode == 0
    shutil.rmtree(folder / ".cache")
    put(folder / "docs" / "storms.md", PAGES["storms.md"].replace("thirty", "ninety"))
    done = build(folder, "--dirty")
    assert done.returncode == 0, done.stderr
    assert "last bundle stays as it is" in done.stderr


def test_a_build_into_a_folder_named_as_a_preview_is_audited(tmp_path: Path) -> None:
    folder = site(tmp_path, {"rumours.md": f"# Rumours\n\n{SAID}\n"})
    with tempfile.TemporaryDirectory(prefix="mkdocs_") as target:
        assert "rumours/index.html, line " in failed(folder, "--site-dir", target)
