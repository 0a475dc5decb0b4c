"""Describe the platforms (AWS, Google, Vercel, Azure, container): limits, entry files, commands."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ...serve.errors import SiteError

PlatformName = Literal["aws-lambda", "google", "vercel", "azure", "container"]
PLATFORM_NAMES: tuple[PlatformName, ...] = get_args(PlatformName)
Architecture = Literal["arm64", "x86_64"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)
DEFAULT_PYTHON = "3.13"
# Where a package is written, beside the configuration.
PACKAGE_FOLDER = "package"
# Bytes in a megabyte, as AWS counts its limits.
MEGABYTE = 1024 * 1024
# The archive in a package, where a platform takes one.
ZIP_FILE = "function.zip"

_LINUX_ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
_OLDEST_GLIBC = 17
_OLDEST_NAMED_GLIBC = 28
# Amazon Linux 2 has glibc 2.26, Amazon Linux 2023 has 2.34.
_AMAZON_LINUX_2 = 26
_AMAZON_LINUX_2023 = 34
# Debian 12 and Ubuntu 22.04 have at least this one.
_DEBIAN_12 = 35

_FOLDER = Path(__file__).resolve().parent
# Templates of code are no modules of this package, so their names do not end like one's.
_TEMPLATE_SUFFIX = ".in"


@dataclass(frozen=True, slots=True)
class SizeLimit:
    """A platform's limit. what: the row of the report; bytes; remedy: for a package above it."""

    what: Literal["zipped", "unpacked"]
    bytes: int
    remedy: str


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform. folder: where in the package the function's files lie.

    adapter: the module of ``serve/http/adapters/`` that its entry point imports. requirements: its
    own, beside those of the function. architectures: the default one first. vendored: the package
    carries its packages; installs_alone: we choose the installer's options, so that what never runs
    can be removed from the packages.
    """

    name: PlatformName
    adapter: str
    architectures: tuple[Architecture, ...]
    requirements: tuple[str, ...] = ()
    limits: tuple[SizeLimit, ...] = ()
    folder: str = "."
    min_python: tuple[int, int] = (3, 11)
    glibc: Callable[[tuple[int, int]], int] = lambda _: _DEBIAN_12
    vendored: bool = False
    installs_alone: bool = False
    keeps_bytecode: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A Python minor version on Linux that runs a package. glibc: of the newest wheel, 2.x."""

    python: tuple[int, int]
    architecture: Architecture
    glibc: int

    @property
    def version(self) -> str:
        """Format the Python version, such as 3.13."""
        return ".".join(map(str, self.python))

    @property
    def machine(self) -> str:
        """Name the architecture as Linux does."""
        return _LINUX_ARCHITECTURES[self.architecture]

    @property
    def platforms(self) -> list[str]:
        """List the tags of fitting wheels, best first."""
        tags = [f"manylinux_2_{n}_{self.machine}" for n in range(self.glibc, _OLDEST_GLIBC - 1, -1)]
        return [*tags, f"manylinux2014_{self.machine}", f"linux_{self.machine}"]

    @property
    def uv_platform(self) -> str:
        """Name the machine as uv does, which knows no glibc between 2.17 and 2.28."""
        glibc = self.glibc if self.glibc >= _OLDEST_NAMED_GLIBC else _OLDEST_GLIBC
        return f"{self.machine}-manylinux_2_{glibc}"


def _amazon_glibc(python: tuple[int, int]) -> int:
    return _AMAZON_LINUX_2 if python < (3, 12) else _AMAZON_LINUX_2023


_SMALLER_REMEDY = "choose fewer dimensions or an encoding of fewer bits, or the target container"

PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform(
            "aws-lambda",
            "aws_lambda",
            ("arm64", "x86_64"),
            limits=(
                SizeLimit("zipped", 50 * MEGABYTE, "upload the zip to S3 and deploy it from there"),
                SizeLimit("unpacked", 250 * MEGABYTE, _SMALLER_REMEDY),
            ),
            glibc=_amazon_glibc,
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
            limits=(SizeLimit("unpacked", 500 * MEGABYTE, _SMALLER_REMEDY),),
            min_python=(3, 12),
            glibc=_amazon_glibc,
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


def choose_machine(platform: Platform, architecture: Architecture | None, python: str) -> Machine:
    """Choose the machine of a package; SiteError for one that the platform does not offer."""
    architecture = architecture or platform.architectures[0]
    if architecture not in platform.architectures:
        raise SiteError(
            f"--arch: {platform.name} does not run {architecture}; choose "
            f"{platform.architectures[0]}"
        )
    major, _, minor = python.partition(".")
    if not (major == "3" and minor.isascii() and minor.isdigit()):
        raise SiteError(
            f"--python: {python!r} is not a version of Python 3; write one such as 3.13"
        )
    version = (3, int(minor))
    if version < platform.min_python:
        oldest = ".".join(map(str, platform.min_python))
        raise SiteError(
            f"--python: {platform.name} needs Python {oldest} or newer, not {python}; choose it"
        )
    return Machine(version, architecture, platform.glibc(version))


def render_entry_files(platform: Platform, machine: Machine) -> dict[str, bytes]:
    """Render a platform's own files, by their names in its package."""
    folder = _FOLDER / "templates" / platform.name
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob(f"*{_TEMPLATE_SUFFIX}")):
        name = path.relative_to(folder).as_posix().removesuffix(_TEMPLATE_SUFFIX)
        files[name] = path.read_bytes().replace(b"@python@", machine.version.encode())
    return files


def list_deploy_commands(
    platform: Platform, machine: Machine, out: Path, keys: Sequence[str] = ()
) -> tuple[str, ...]:
    """List the three commands that deploy a package; words in capitals are yours to set.

    keys: the variables of keys, which a container gets from the shell's environment.
    """
    text = (_FOLDER / "commands" / f"{platform.name}.txt").read_text(encoding="utf-8")
    values = {
        "python": machine.version,
        "python-digits": machine.version.replace(".", ""),
        "architecture": machine.architecture,
        "docker": {"arm64": "arm64", "x86_64": "amd64"}[machine.architecture],
        "keys": "".join(f" --env {key}" for key in keys),
        "folder": shlex.quote(str(out)),
        "archive": shlex.quote(f"fileb://{out / ZIP_FILE}"),
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return tuple(text.splitlines())
