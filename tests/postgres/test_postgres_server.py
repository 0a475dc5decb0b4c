"""The PostgreSQL of the tests runs wherever this repository and its environment are."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import postgres_server
from support.postgres_server import PostgresServer


@pytest.fixture
def socket_folder() -> Iterator[Path]:
    # A socket's path is at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    yield folder
    shutil.rmtree(folder)


def test_a_server_runs_from_an_installation_that_only_its_owner_can_enter(
    tmp_path: Path, socket_folder: Path
) -> None:
    """As root, the server runs as another user, who cannot enter such a folder."""
    package = postgres_server._package()
    private = tmp_path / "private"
    private.mkdir()
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.with_name(name), private / name, symlinks=True)
    for path in (private, *private.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & 0o700)
    server = PostgresServer(socket_folder, package=private / package.name)
    server.start()
    try:
        assert server.execute("SELECT 1 + 1") == [(2,)]
        assert server.execute("CREATE EXTENSION vector") == []
        assert server.execute("SELECT '[1,2]'::vector <-> '[1,0]'") == [(2.0,)]
    finally:
        server.stop()
