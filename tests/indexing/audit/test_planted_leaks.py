"""A note's words in anything that a build publishes fail it, and its error repeats none of them."""

import base64
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.index.format import Container, pack_container
from support.sites import NOTES, PAGES, build, build_here, failure, put, write_site

SECRET = "The gearbox of the electric winch was taken from a scrapped tractor in the spring"
SLUG = SECRET.lower().replace(" ", "-")
# Every word of the secret that stands nowhere else in what a build prints.
PRIVATE = ("gearbox", "scrapped", "tractor")
NOTE = NOTES["winch.md"]
MANIFEST = Path("function", "bundle", "manifest.json")

QUESTION = f"was {SECRET[0].lower()}{SECRET[1:59]}"
KNOWN = {"id": "index#harbour", "hash": "0", "questions": [QUESTION]}
EXAMPLE = {"id": "a", "query": QUESTION, "expectAnswerMode": "partial", "example": True}
STORED_ANSWER = {
    "question": "how thick is the chain",
    "section": "mooring#chains",
    "claims": [
        {
            "text": f"{SECRET}.",
            "citations": [{"id": "mooring#chains", "url": "/mooring/#chains", "quote": "chain"}],
        }
    ],
}
THEME = {"name": "mkdocs", "custom_dir": "theme"}
MACRO = (
    "from pathlib import Path\n\n\ndef define_env(env):\n    @env.macro\n    def winch():\n"
    "        return Path(env.project_dir, 'notebook', 'winch.md').read_text().split('---')[2]\n"
)
LINK_HOOK = (
    "from pathlib import Path\n\n\ndef on_post_build(config):\n"
    "    folder = Path(config.config_file_path).parent\n"
    "    Path(config.site_dir, 'far').symlink_to(folder / 'far')\n"
)
BROWSER_FILE = pack_container(Container({"passages": [f"“{SECRET}”\n"]}))


@dataclass(frozen=True)
class Leak:
    """Where the words are planted, and the place that the error names."""

    place: str
    page: str = "Nothing here."
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)


LEAKS = {
    "page": Leak("site/rumours/index.html, line ", page=f"They say: {SECRET}."),
    "markup": Leak("site/rumours/index.html", page=SECRET.replace("winch was", "[winch *was*](#)")),
    "encoded": Leak(
        "site/rumours/index.html",
        page=f"<i data-hint='{base64.b64encode(SECRET.encode()).decode()}'></i>",
    ),
    "draft": Leak(
        "site/rumours/index.html",
        page=SECRET,
        files={"notebook/winch.md": f"---\ndraft: true\n---\n\n{SECRET}.\n"},
    ),
    "front matter": Leak(
        "the front matter of rumours.md",
        files={"docs/rumours.md": f"---\naliases: ['{SECRET}']\n---\n\n# Rumours\n\nNothing.\n"},
    ),
    "search index": Leak("search_index.json, line 1", page=SECRET, config={"plugins": ["search"]}),
    "snippet": Leak(
        "site/rumours/index.html",
        page='--8<-- "winch.md"',
        config={"markdown_extensions": [{"pymdownx.snippets": {"base_path": ["notebook"]}}]},
    ),
    "macro": Leak(
        "site/rumours/index.html",
        page="{{ winch() }}",
        files={"main.py": MACRO},
        config={"plugins": ["macros"]},
    ),
    "site name": Leak("site/", config={"site_name": SECRET}),
    "theme file": Leak(
        "site/js/own.js, line 1",
        files={"theme/js/own.js": f"const hint = {json.dumps(SECRET)};\n"},
        config={"theme": THEME},
    ),
    "theme template": Leak(
        "site/extra.html",
        files={"theme/extra.html": f"<!-- {SECRET} -->\n"},
        config={"theme": {**THEME, "static_templates": ["extra.html"]}},
    ),
    "source map": Leak(
        "site/own.js.map, line 1",
        files={"docs/own.js.map": json.dumps({"version": 3, "sourcesContent": [f"// {SECRET}"]})},
    ),
    "table": Leak("site/table.csv", files={"docs/table.csv": f"café;{SECRET}\n".encode("latin-1")}),
    "file name": Leak("site/files/…", files={f"docs/files/{SLUG}.csv": "a,b\n"}),
    "linked folder": Leak(
        "site/far/deep/talk.txt",
        files={"far/deep/talk.txt": SECRET, "hook.py": LINK_HOOK},
        config={"hooks": ["hook.py"]},
    ),
    "file of the browser's index": Leak(
        "texts/000.bin", files={"docs/assets/answerable/index/en/texts/000.bin": BROWSER_FILE}
    ),
    "enrichment": Leak(
        "the front matter of mooring.md",
        files={"extra.yml": f"mooring: {SECRET}\n"},
        options={"enrichment": "extra.yml"},
    ),
    "abbreviations": Leak(
        "abbreviations",
        files={"extra.md": f"*[EW]: {SECRET}\n"},
        options={"abbreviations": "extra.md"},
    ),
    "known question": Leak("questions", files={"eval/questions.jsonl": json.dumps(KNOWN)}),
    "stored answer": Leak(
        "questions.answers.json",
        files={"eval/questions.answers.json": json.dumps([STORED_ANSWER])},
    ),
    "example": Leak(
        "site/assets/answerable/site.json, line 4; ",
        files={"eval/gold.yaml": json.dumps({"queries": [EXAMPLE]})},
    ),
    "address of the authors": Leak(
        "site/assets/answerable/site.json",
        options={"widget": {"authors": f"{SLUG}?q={{question}}"}},
    ),
    "label": Leak(
        "winch.md, line 2: label", files={"notebook/winch.md": NOTE.replace("Plans", SECRET)}
    ),
    "locator": Leak(
        "winch.md, line 3: locator",
        files={"notebook/winch.md": NOTE.replace("second shelf", SECRET)},
    ),
    "id": Leak(
        "winch.md, line 2: id",
        files={"notebook/winch.md": NOTE.replace("label:", f"id: {SLUG}\nlabel:")},
    ),
}


def plant(folder: Path, leak: Leak) -> Path:
    """Write a site with a note whose words are planted."""
    config = dict(leak.config)
    plugins = [*config.pop("plugins", ()), {"answerable": {"notebook": "notebook",
               "function": "function", **leak.options}}]  # fmt: skip
    pages = {**PAGES, "rumours.md": f"# Rumours\n\n{leak.page}\n"}
    put(folder / "theme" / "extra.html", "<p>Nothing here.</p>\n")
    write_site(folder, pages, NOTES, plugins=plugins, **config)
    for name, data in leak.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def assert_names(message: str, place: str) -> None:
    """Check that an error names the note and the place, and repeats no private word."""
    assert "winch.md" in message
    assert place in message
    assert not [word for word in PRIVATE if word in message.lower()]


@pytest.mark.parametrize("name", LEAKS)
def test_words_of_a_note_fail_the_build_wherever_they_are_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # Snippets are read from the folder in which a build runs.
    monkeypatch.chdir(tmp_path)
    assert_names(failure(plant(tmp_path, LEAKS[name])), LEAKS[name].place)
    assert not (tmp_path / "function").exists()


INNOCENT = (
    *("TODO", "The end", "See above", "MIT license", "function", "return null", "Mooring"),
    *("# Lanterns\n", "Harbour", "12", "DONE!!!", "- [ ] **Draft**"),
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this "
    'software and associated documentation files (the "Software"), to deal in the Software.',
)


def test_ordinary_words_of_short_notes_and_those_of_a_license_stop_no_build(tmp_path: Path) -> None:
    notes = {
        f"{number}.md": f"---\nlabel: Note {number}\nabout: mooring.md\n---\n\n{body}\n"
        for number, body in enumerate(INNOCENT)
    }
    text = "TODO: see above. The end! It has the MIT license. DONE: `return null`, 12. A draft."
    pages = {**PAGES, "log.md": f"# Log\n\nThe lanterns of Harbour burn. {text}\n"}
    plugins: list[Any] = ["search", {"answerable": {"notebook": "notebook"}}]
    build_here(write_site(tmp_path, pages, notes, theme={"name": "material"}, plugins=plugins))


@pytest.mark.parametrize("file", ["docs/talk.txt", "docs/rumours.md", "theme/extra.html"])
def test_a_file_that_the_note_lists_may_repeat_it_and_no_other(tmp_path: Path, file: str) -> None:
    theme = {"name": "material", "custom_dir": "theme", "static_templates": ["extra.html"]}
    plant(tmp_path, Leak("", files={file: SECRET}, config={"theme": theme, "plugins": ["search"]}))
    published = file.split("/", 1)[1]
    assert f"list {published} in the note's published_in" in failure(tmp_path)
    listed = NOTE.replace("about:", f"published_in: [{published}]\nabout:")
    put(tmp_path / "notebook" / "winch.md", listed)
    build_here(tmp_path)
    put(tmp_path / "docs" / "other.md", f"# Other\n\n{SECRET}\n")
    assert_names(failure(tmp_path), "site/other/index.html")


def test_a_dirty_build_without_its_cache_is_audited_and_leaves_the_last_bundle(
    tmp_path: Path,
) -> None:
    build_here(plant(tmp_path, Leak("")))
    manifest = (tmp_path / MANIFEST).read_bytes()
    shutil.rmtree(tmp_path / ".cache")
    page = tmp_path / "docs" / "rumours.md"
    put(page, f"# Rumours\n\n{SECRET}\n")
    # Newer than what the build has written, whatever the clock says.
    os.utime(page, (2**31, 2**31))
    assert_names(build(tmp_path, "--dirty").stderr, "site/rumours/index.html, line ")
    assert (tmp_path / MANIFEST).read_bytes() == manifest
