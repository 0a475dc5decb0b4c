"""The store in the browser reads from its files what the bundle holds."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.engine.bundle import Bundle
from answerable.indexing.browser_files import BrowserIndex
from answerable.indexing.build import has_code
from support.browser_index import serialize_bundle, write_index
from support.engine_process import OPENER, engine
from support.sites import PAGES, build_here, local, opened, write_site
from support.static_server import Quiet, Ranged, serving

STORE = "store"
# Sections enough for several shards of each kind, and texts of which offsets differ in UTF-16.
SECTIONS = "\n\n".join(
    f"## Part {n} 🚣\n\nThe {n}. boat 🚤 carries {n * 7} sails. It needs `rope --size {n}` 🪢 "
    f"and [a chain](mooring.md).\n\n- oar 🛶 number {n}\n- anchor\n\n```sh\nlower --boat {n}\n```"
    for n in range(1, 30)
)
FLEET = f"""---
aliases: [the flotilla]
tags: [boats, sails]
date: 2026-02-03
---
# Fleet

{SECTIONS}

## Long

{"A very long section has a sentence for each of its many boats. " * 60}

| boat | sails |
|------|-------|
| Anna | four  |
"""


@dataclass(frozen=True)
class Published:
    """Hold a site: its folder, bundle, files for the browser, their home and site.json's entry."""

    folder: Path
    bundle: Bundle
    index: BrowserIndex
    home: str
    entry: Mapping[str, Any]

    def open_store(self, name: str) -> None:
        """Open the store in the engine's process under a name."""
        engine().call(OPENER, "openStore", self.home, self.entry, save=name)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    folder = tmp_path_factory.mktemp("site")
    pages = {**PAGES, "fleet.md": FLEET, "changelog.md": "# Changelog\n\nA buoy was added.\n"}
    build_here(write_site(folder, pages))
    bundle = opened(folder)
    index = serialize_bundle(bundle)
    entry = write_index(index, folder / "static")
    with serving(folder / "static") as origin:
        published = Published(folder, bundle, index, f"{origin}/", entry)
        published.open_store(STORE)
        yield published


def _use(member: str, *args: Any) -> Any:
    return engine().use(STORE, member, *args)


def test_columns_of_the_store_equal_those_of_the_bundle(published: Published) -> None:
    bundle, index = published.bundle, published.bundle.index
    assert _use("recordIds") == list(index.record_ids)
    assert _use("weights") == index.weights.tolist()
    assert _use("dates") == list(index.dates)
    assert _use("titleNorms") == index.title_norms.tolist()
    assert _use("isHistory") == index.is_history.tolist()
    assert sum(index.is_history) == 1
    assert _use("passageRecords") == index.passage_records.tolist()
    assert _use("passageIds") == list(index.passage_ids)
    assert _use("passageUrls") == list(index.passage_urls)
    assert _use("passageTitles") == list(index.passage_titles)
    assert _use("passageLengths") == index.passage_lengths.tolist()
    passages = list(bundle.passages())
    assert _use("hasCode") == [int(has_code(passage)) for passage in passages]
    assert _use("passageSections") == index.passage_sections.tolist()
    for name, phrases in (
        ("names", index.names),
        ("aliases", index.aliases),
        ("themes", index.themes),
        ("titleTerms", index.title_terms),
    ):
        entries = {
            phrase: {
                "records": phrases.find_records(phrase),
                "frequency": phrases.count_records(phrase),
            }
            for phrase in phrases.rows
        }
        assert entries
        assert _use(name) == entries


def test_manifest_and_site_equal_those_of_the_bundle(published: Published) -> None:
    manifest, site = published.bundle.manifest, published.bundle.index.site
    assert _use("manifest")["id"] == manifest.id
    assert _use("manifest")["built_at"] == manifest.built_at
    assert _use("manifest")["profile"] == asdict(manifest.profile)
    assert _use("manifest")["dimensions"] == manifest.dimensions
    languages = [{"tag": e.tag, "first": e.first, "end": e.end} for e in site.languages]
    names = {"names": list(site.names), "scripts": sorted(site.scripts), "tags": list(site.tags)}
    assert _use("site") == {**asdict(site), **names, "languages": languages}
    assert _use("loadWords") == list(published.bundle.index.words)


def test_postings_of_every_term_equal_those_of_the_bundle(published: Published) -> None:
    bundle = published.bundle
    postings = bundle.postings_of(())
    _use("loadTerms", [*postings.terms, "absent🚀"])
    assert _use("postings", "absent🚀") == {"passages": [], "counts": []}
    for term, row in postings.terms.items():
        span = slice(int(postings.edges[row]), int(postings.edges[row + 1]))
        passages = postings.passages[span].tolist()
        assert _use("postings", term) == {
            "passages": passages,
            "counts": postings.counts[span].tolist(),
        }


def test_passages_equal_those_of_the_bundle(published: Published) -> None:
    bundle, rows = published.bundle, range(len(published.bundle.index.passage_ids))
    assert len(rows) > 32
    passages = _use("loadPassages", list(rows))
    for row in rows:
        expected, passage = bundle.passage(row), passages[row]
        for name in ("id", "url", "title", "markdown", "date", "language"):
            assert passage[name] == getattr(expected, name)


def test_cosines_equal_those_of_the_bundle(published: Published) -> None:
    bundle = published.bundle
    rows = np.arange(len(bundle.index.passage_ids))[::-1]
    [unit] = local().embed(["How thick is the chain of a mooring?"])
    vector = {"$floats": unit.tolist()}
    cosines = np.array(_use("loadCosines", vector, rows.tolist()))
    assert cosines.tolist() == bundle.index.codes.score(unit)[rows].tolist()
    estimates = np.array(_use("estimateCosines", vector))
    signs = np.where(bundle.index.codes.codes > 0, 1, -1)
    expected = signs @ unit / np.sqrt(len(unit)) / np.sqrt(2 / np.pi)
    assert np.abs(estimates - expected).max() < 1e-6
    assert np.abs(estimates[rows] - cosines).max() < 0.3


HOME = "https://docs.example.com/assets/answerable/"


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/index",
        "//evil.example/index",
        "\\\\evil.example/index",
        "data:text/javascript,1",
        "../../elsewhere",
        "%2e%2e/%2e%2e/elsewhere",
        "/elsewhere",
    ],
)
def test_a_path_that_a_site_names_is_below_its_own(path: str) -> None:
    with pytest.raises(AssertionError, match="is no path of the site"):
        engine().call("site_files", "resolvePath", path, HOME)


QUESTIONS = (
    "How thick is the chain of a mooring?",
    "How many sails does the 12. boat carry?",
    "Ħow?",
)


def _ask_all(published: Published, folder: Path, handler: type[Quiet]) -> list[Any]:
    """Ask all questions in a new engine over files that a server of some kind sends."""
    with serving(folder, handler) as origin:
        engine().call("site_index", "openSiteIndex", published.entry, f"{origin}/", save="asked")
        return [engine().use("asked", "answer", question, {}) for question in QUESTIONS]


def _count(server: type[Quiet], sent: list[int]) -> type[Quiet]:
    class Counting(server):  # type: ignore[misc, valid-type]
        def send_header(self, keyword: str, value: str) -> None:
            if keyword == "Content-Length":
                sent.append(int(value))
            super().send_header(keyword, value)

    return Counting


def test_a_server_without_ranges_gives_the_same_replies_for_more_bytes(
    published: Published,
) -> None:
    folder = published.folder / "static"
    ranged: list[int] = []
    whole: list[int] = []
    replies = _ask_all(published, folder, _count(Ranged, ranged))
    assert replies == _ask_all(published, folder, _count(Quiet, whole))
    assert [reply["mode"] for reply in replies] == ["partial", "partial", "not-found"]
    assert sum(ranged) < sum(whole) / 2


@pytest.mark.parametrize("server", [pytest.param(Quiet, marks=pytest.mark.deep), Ranged])
def test_a_changed_file_gives_a_clear_error_or_the_same_replies(
    published: Published, tmp_path: Path, server: type[Quiet]
) -> None:
    folder = shutil.copytree(published.folder / "static", tmp_path / "static")
    replies = _ask_all(published, folder, server)
    refusals = 0
    for path in sorted([*folder.glob("index/*/*"), *folder.glob("model/*/*")]):
        data = path.read_bytes()
        middle = len(data) // 2
        for damaged in (
            data[:middle],
            data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            b"<!doctype html><title>Not found</title>",
        ):
            path.write_bytes(damaged)
            try:
                damaged_replies = _ask_all(published, folder, server)
            except AssertionError as error:
                if "IndexGoneError" not in str(error):
                    raise
                refusals += 1
            else:
                assert damaged_replies == replies
        path.write_bytes(data)
    assert refusals > 20
