"""Sites in several languages by static-i18n: one bundle has every page once, in its language."""

import json
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.stores.bundle import open_bundle
from answerable.indexing.widget import site_files
from mkdocs_plugin.test_record_paths import checked
from support import sites
from support.citation_check import assert_in_articles, assert_resolves, records
from support.sites import ask, opened, write_site

pytestmark = pytest.mark.deep

ENGLISH = {
    "index.md": "# Harbour\n\nHarbour keeps small boats in order.\n",
    "guide/mooring.md": "# Mooring\n\nA buoy holds forty litres.\n\n## Chains\n\nOf steel.\n",
    "storms.md": "# Storms\n\nBefore a storm the crew doubles every rope.\n",
}
FRENCH = {
    "index.md": "# Port\n\nLe port garde les petits bateaux en ordre.\n",
    "guide/mooring.md": "# Mouillage\n\nLa bouée du mouillage contient quarante litres.\n",
}
GERMAN = {"index.md": "# Hafen\n\nDer Hafen hält kleine Boote in Ordnung.\n"}
LANGUAGES: list[dict[str, Any]] = [
    {"locale": "en", "name": "English", "default": True},
    {"locale": "fr", "name": "Français", "site_name": "Port"},
    {"locale": "de", "name": "Deutsch"},
]


def suffixed(pages: dict[str, str], language: str) -> dict[str, str]:
    return {name.replace(".md", f".{language}.md"): page for name, page in pages.items()}


def translated(folder: Path, structure: str, *, last: bool = True, **config: Any) -> Path:
    """Write a site in three languages, our plugin last or first among its plugins."""
    if structure == "suffix":
        pages = ENGLISH | suffixed(FRENCH, "fr") | suffixed(GERMAN, "de")
    else:
        every = {"en": ENGLISH, "fr": FRENCH, "de": GERMAN}
        pages = {f"{language}/{n}": p for language, ps in every.items() for n, p in ps.items()}
    i18n = {"i18n": {"docs_structure": structure, "languages": LANGUAGES}}
    config.setdefault("plugins", ["search", i18n, "answerable"])
    if not last:
        config["plugins"].reverse()
    return write_site(folder, pages, site_url="https://harbour.example/docs/", **config)


@pytest.mark.parametrize(
    ("theme", "last"),
    [
        ("material", True),
        ("readthedocs", False),
    ],
)
def test_suffixes_give_one_bundle_with_every_page_once(
    tmp_path: Path, theme: str, last: bool
) -> None:
    translated(tmp_path, "suffix", last=last, theme=theme)
    assert checked(tmp_path) == {
        "index": ("/docs/", "Harbour"),
        "guide/mooring": ("/docs/guide/mooring/", "Mooring"),
        "storms": ("/docs/storms/", "Storms"),
        "index.fr": ("/docs/fr/", "Port"),
        "guide/mooring.fr": ("/docs/fr/guide/mooring/", "Mouillage"),
        "index.de": ("/docs/de/", "Hafen"),
    }
    site = opened(tmp_path).index.site
    assert (site.name, site.language) == (
        "Harbour",
        "en",
    )
    urls = {
        "How many litres does a buoy hold?": "/docs/guide/mooring/#mooring",
        "Combien de litres contient la bouée du mouillage ?": "/docs/fr/guide/mooring/#mouillage",
        "Was hält kleine Boote in Ordnung?": "/docs/de/#hafen",
    }
    for question, url in urls.items():
        claims = ask(opened(tmp_path), question).answer.claims
        assert {c.url for claim in claims for c in claim.citations} == {url}, question


def test_folders_give_one_bundle_with_every_page_and_the_widget_once(tmp_path: Path) -> None:
    translated(tmp_path, "folder", use_directory_urls=False, theme="material")
    assert checked(tmp_path) == {
        "en/index": ("/docs/index.html", "Harbour"),
        "en/guide/mooring": ("/docs/guide/mooring.html", "Mooring"),
        "en/storms": ("/docs/storms.html", "Storms"),
        "fr/index": ("/docs/fr/index.html", "Port"),
        "fr/guide/mooring": ("/docs/fr/guide/mooring.html", "Mouillage"),
        "de/index": ("/docs/de/index.html", "Hafen"),
    }
    html = (tmp_path / "site" / "fr" / "guide" / "mooring.html").read_text("utf-8")
    assert 'src="../../assets/answerable/ask-box.js"' in html
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("ask-box.js")] == [
        "site/assets/answerable/ask-box.js"
    ]


@pytest.mark.parametrize("reconfigured", [True, False])
def test_apart_each_language_has_a_bundle_of_its_own(tmp_path: Path, reconfigured: bool) -> None:
    i18n = {
        "docs_structure": "suffix",
        "languages": LANGUAGES,
        # Without it the theme stays in one language, and the build's is not to be read from it.
        "reconfigure_material": reconfigured,
    }
    ours = {"languages": "apart", "widget": {"endpoint": "/ask/{language}/"}}
    plugins = [{"i18n": i18n}, {"answerable": ours}]
    translated(tmp_path, "suffix", theme="material", plugins=plugins)
    done = sites.build(tmp_path)
    assert done.returncode == 0, done.stderr
    for language in ("en", "fr", "de"):
        assert_resolves(tmp_path, f"function/{language}")
        assert_in_articles(tmp_path, f"function/{language}")
    assert records(tmp_path, "function/fr") == {
        "index.fr": ("/docs/fr/", "Port"),
        "guide/mooring.fr": ("/docs/fr/guide/mooring/", "Mouillage"),
        # Not translated: shown in the default language among the French pages.
        "storms": ("/docs/fr/storms/", "Storms"),
    }
    assert set(records(tmp_path, "function/en")) == {"index", "guide/mooring", "storms"}
    html = (tmp_path / "site" / "fr" / "storms" / "index.html").read_text("utf-8")
    assert '<link rel="answerable" href="/ask/fr/">' in html
    widget_file = json.loads((tmp_path / "site" / site_files.WIDGET_CONFIG_PATH).read_text("utf-8"))
    assert widget_file["bundle"] == {
        language: open_bundle(tmp_path / "function" / language / "bundle").manifest.id
        for language in ("de", "en", "fr")
    }
