"""The addresses that answers cite, looked up on a real site behind a real server."""

import contextlib
import gzip
import re
import shutil
import time
from pathlib import Path

import pytest

from answerable.cli import published_site, setup
from answerable.cli.setup import CitedPage, find_missing_anchors
from support import sites, static_server

NOTES = {
    **sites.NOTES,
    "talk.md": (
        "---\nlabel: A talk\nlocator: second reel\nabout: https://video.example/talk\n---\n\n"
        "The talk tells of an anchor that was lost in the harbour.\n"
    ),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sites.write_site(
        tmp_path_factory.mktemp("links"), notes=NOTES, site_url="https://harbour.example/docs/"
    )
    done = sites.build(folder, "-q")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def deployed(built: Path, tmp_path: Path) -> Path:
    """Make a folder that a static host serves, the site under the path of its address."""
    shutil.copytree(built / "site", tmp_path / "docs")
    return tmp_path


def run_check(built: Path, url: str) -> tuple[int, list[str]]:
    """Check the site at an address; what is said of its links, and the exit status."""
    config = built / "mkdocs.yml"
    published = re.sub("^site_url:.*$", f"site_url: {url}", config.read_text("utf-8"), flags=re.M)
    online = built / "online.yml"
    online.write_text(published if "site_url" in published else f"{published}site_url: {url}\n")
    done = sites.command(built, "-f", str(online), "doctor", "--online")
    lines = [line for line in done.stdout.splitlines() if url.split("?")[0] in line]
    summary = [line for line in done.stdout.splitlines() if " broken" in line]
    links = [line for line in lines if "site_url is" not in line] + summary
    return int(any(line.startswith("✗") for line in links)), links


def test_check_links_passes_for_deployed_site(built: Path, deployed: Path) -> None:
    with static_server.serving(deployed) as origin:
        status, lines = run_check(built, f"{origin}/docs/")
    assert lines == ["✓ 5 addresses on 3 pages, 0 broken; 1 elsewhere are not looked up"]
    assert status == 0


def test_check_links_names_missing_page_and_anchor(built: Path, deployed: Path) -> None:
    shutil.rmtree(deployed / "docs" / "storms")
    page = deployed / "docs" / "mooring" / "index.html"
    text = page.read_text("utf-8")
    assert 'id="chains"' in text
    page.write_text(text.replace('id="chains"', 'id="chain"'), "utf-8")
    with static_server.serving(deployed) as origin:
        status, lines = run_check(built, f"{origin}/docs/")
    assert status == 1
    assert lines == [
        f"✗ {origin}/docs/mooring/#chains: no element has the id 'chains', and answers cite it as "
        "mooring#chains; publish the site",
        f"✗ {origin}/docs/storms/#storms: the server says 404, and answers cite it as "
        "storms#storms; publish the site",
        f"✗ {origin}/docs/storms/#lanterns: the server says 404, and answers cite it as "
        "storms#lanterns; publish the site",
        "✗ 5 addresses on 3 pages, 3 broken; 1 elsewhere are not looked up",
    ]


def test_check_links_resolves_site_without_site_url(built: Path, tmp_path: Path) -> None:
    site = sites.write_site(tmp_path / "source", site_url="")
    done = sites.build(site, "-q")
    assert done.returncode == 0, done.stderr
    shutil.copytree(site / "site", tmp_path / "public" / "any" / "where")
    with static_server.serving(tmp_path / "public") as origin:
        assert run_check(site, f"{origin}/any/where/") == (
            0,
            ["✓ 5 addresses on 3 pages, 0 broken"],
        )
        # A site that has one is cited there, wherever else it may lie.
        assert run_check(built, f"{origin}/any/where/")[0] == 1


class Compressed(static_server.Quiet):
    """Sends what it has compressed, as storage does that knows it in no other way."""

    def do_GET(self) -> None:  # noqa: N802 - its base class names it so
        data = gzip.compress((Path(self.translate_path(self.path)) / "index.html").read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Garbled(Compressed):
    """Redirects to what is no address, or says that plain text is compressed."""

    def do_GET(self) -> None:  # noqa: N802 - its base class names it so
        if "storms" in self.path:
            self.send_response(302)
            self.send_header("Location", "http://[")
        else:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Encoding", "gzip" if "mooring" in self.path else "identity")
        self.end_headers()
        self.wfile.write(b'<h1 id="harbour">Harbour</h1>')


def test_pages_that_come_compressed_are_read(built: Path, deployed: Path) -> None:
    with static_server.serving(deployed, Compressed) as origin:
        status, lines = run_check(built, f"{origin}/docs/")
    assert lines == ["✓ 5 addresses on 3 pages, 0 broken; 1 elsewhere are not looked up"]
    assert status == 0


def test_check_links_survives_garbled_page(built: Path, deployed: Path) -> None:
    with static_server.serving(deployed, Garbled) as origin:
        status, lines = run_check(built, f"{origin}/docs/")
    assert (status, len(lines)) == (1, 5)
    assert all("it cannot be reached (" in line for line in lines[:4])
    assert lines[4] == "✗ 5 addresses on 3 pages, 4 broken; 1 elsewhere are not looked up"


class Endless(static_server.Quiet):
    def do_GET(self) -> None:  # noqa: N802 - its base class names it so
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"<p>And another wave.</p>")
                time.sleep(0.02)


def test_check_links_gives_up_endless_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_site, "TIMEOUT_SECONDS", 0.3)
    with (
        static_server.serving(tmp_path, Endless) as origin,
        pytest.raises(TimeoutError, match="timed out"),
    ):
        setup._fetch_page(published_site.WebClient("doctor"), f"{origin}/")


def test_address_is_percent_and_idna_encoded() -> None:
    sent = published_site.encode_address("http://日本.example:8000/häfen/a b/%C3%A4?q=ü")
    assert sent == "http://xn--wgv71a.example:8000/h%C3%A4fen/a%20b/%C3%A4?q=%C3%BC"


def test_text_directive_is_not_part_of_anchor() -> None:
    cited = {"chains:~:text=mooring": "a", ":~:text=chain": "b", "ropes:~:text=rope": "c"}
    page = CitedPage("https://harbour.example/", cited)
    missing = find_missing_anchors(page, '<h1 id="chains">Chains</h1>')
    assert missing == {"ropes:~:text=rope": "no element has the id 'ropes'"}


def test_site_that_no_server_has_is_a_problem(built: Path) -> None:
    status, (line,) = run_check(built, "http://127.0.0.1:1/")
    assert status == 1
    assert line.startswith("✗ site_url: http://127.0.0.1:1/ cannot be reached (")
