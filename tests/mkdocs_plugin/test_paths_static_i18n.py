"""Sites in several languages by static-i18n: one bundle has every page once, in its language."""

from pathlib import Path
from typing import Any

import pytest

from mkdocs_plugin.test_record_paths import checked
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
    [("material", True), ("readthedocs", False)],
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
    assert (site.name, site.language) == ("Harbour", "en")
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
