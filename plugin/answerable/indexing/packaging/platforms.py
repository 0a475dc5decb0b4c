"""The platforms: what each takes, what it runs on and how much it takes.

The files that a platform looks for: entry points and configuration, from templates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ...serve.errors import SiteError

PlatformName = Literal["aws-lambda", "google", "vercel", "azure", "container"]
PLATFORM_NAMES: tuple[PlatformName, ...] = get_args(PlatformName)
Architecture = Literal["arm64", "x86_64"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
DEFAULT_PYTHON = "3.13"
# Bytes in a megabyte, as AWS counts its limits.
MEGABYTE = 1024 * 1024

_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}
_LEAST_PYTHON = (3, 11)
_OLDEST_GLIBC = 17
# Amazon Linux 2 has glibc 2.26, Amazon Linux 2023 has 2.34.
_AMAZON_LINUX_2 = 26
_AMAZON_LINUX_2023 = 34
# Debian 12 and Ubuntu 22.04 have at least this one.
_DEBIAN_12 = 35


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """What a platform takes at most. what: of the report's rows; bytes; remedy: for what passes."""

    what: Literal["zipped", "unpacked"]
    bytes: int
    remedy: str


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform. folder: where in the package the function's files lie.

    adapter: the module of ``serve/http/adapters/`` that its entry point imports. requirements:
    what it needs beside the function's own. architectures: the default one first. vendored: the
    package carries its packages; installs_alone: we choose pip's options, so that a
    dependency that is never
    imported can be left out.
    """

    name: PlatformName
    adapter: str
    architectures: tuple[Architecture, ...]
    requirements: tuple[str, ...] = ()
    limits: tuple[SizeLimit, ...] = ()
    folder: str = "."
    least_python: tuple[int, int] = _LEAST_PYTHON
    glibc: Callable[[tuple[int, int]], int] = lambda _: _DEBIAN_12
    vendored: bool = False
    installs_alone: bool = False
    keeps_bytecode: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """What a package is for: a Python minor version on Linux. glibc: the newest wheel's, 2.x."""

    python: tuple[int, int]
    architecture: Architecture
    glibc: int

    @property
    def version(self) -> str:
        """The Python version, such as 3.13."""
        return ".".join(map(str, self.python))

    @property
    def machine(self) -> str:
        """The architecture as Linux calls it."""
        return _MACHINES[self.architecture]

    @property
    def platforms(self) -> list[str]:
        """The tags of the wheels that it takes, best first: the order in which pip prefers them."""
        tags = [f"manylinux_2_{n}_{self.machine}" for n in range(self.glibc, _OLDEST_GLIBC - 1, -1)]
        return [*tags, f"manylinux2014_{self.machine}", f"linux_{self.machine}"]

    @property
    def markers(self) -> dict[str, str]:
        """What a requirement's environment marker is compared with."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.version}.0",
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": f"{self.version}.0",
            "python_version": self.version,
            "sys_platform": "linux",
        }


def _amazon(python: tuple[int, int]) -> int:
    return _AMAZON_LINUX_2 if python < (3, 12) else _AMAZON_LINUX_2023


_S3 = "upload the zip to S3 and deploy it from there"
_SMALLER = "choose fewer dimensions or an encoding of fewer bits, or the target container"

PLATFORMS = {
    target.name: target
    for target in (
        Platform(
            "aws-lambda",
            "aws_lambda",
            ("arm64", "x86_64"),
            limits=(
                SizeLimit("zipped", 50 * MEGABYTE, _S3),
                SizeLimit("unpacked", 250 * MEGABYTE, _SMALLER),
            ),
            glibc=_amazon,
            vendored=True,
            installs_alone=True,
            keeps_bytecode=True,
        ),
        Platform(
            "google",
            "google",
            ("x86_64",),
            ("functions-framework>=3.8,<4",),
            keeps_bytecode=True,
        ),
        Platform(
            "vercel",
            "asgi",
            ("x86_64",),
            limits=(SizeLimit("unpacked", 500 * MEGABYTE, _SMALLER),),
            least_python=(3, 12),
            glibc=_amazon,
        ),
        Platform(
            "azure",
            "asgi",
            ("x86_64",),
            ("azure-functions>=1.21,<3",),
            keeps_bytecode=True,
        ),
        Platform(
            "container",
            "asgi",
            ("x86_64", "arm64"),
            ("uvicorn>=0.30,<1",),
            folder="app",
            installs_alone=True,
        ),
    )
}


def choose_machine(target: Platform, architecture: Architecture | None, python: str) -> Machine:
    """The machine that a package is for; SiteError for what the platform does not run."""
    chosen = architecture or target.architectures[0]
    if chosen not in target.architectures:
        raise SiteError(
            f"--arch: {target.name} does not run {chosen}; choose {target.architectures[0]}"
        )
    major, _, minor = python.partition(".")
    if not (major == "3" and minor.isascii() and minor.isdigit()):
        raise SiteError(f"--python: {python!r} is no version of Python 3; write one such as 3.13")
    version = (3, int(minor))
    if version < target.least_python:
        least = ".".join(map(str, target.least_python))
        raise SiteError(f"--python: {target.name} needs Python {least} or newer, not {python}")
    return Machine(version, chosen, target.glibc(version))


_TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
# Templates of code are no modules of this package, so their names do not end like one's.
_SUFFIX = ".in"


def render_entry_files(target: Platform, machine: Machine) -> dict[str, bytes]:
    """A target's own files by their names in its package."""
    folder = _TEMPLATES / target.name
    found = {}
    for path in sorted(folder.rglob(f"*{_SUFFIX}")):
        name = path.relative_to(folder).as_posix().removesuffix(_SUFFIX)
        text = path.read_text(encoding="utf-8").replace("@python@", machine.version)
        found[name] = text.encode()
    return found
