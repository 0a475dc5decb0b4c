"""Resolve requirements to a lock file: the version and hash of every package a machine needs.

Pip evaluates environment markers for the machine that it runs on, so it is asked for one level of
dependencies at a time, and the markers are evaluated here for the machine of the package.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ...serve.errors import SiteError
from .installation import report_wheels
from .platforms import Machine

# By the extras of mkdocs-answerable: what a function may need beside its providers.
PACKAGE_EXTRAS = {
    "redis": "redis>=5,<8",
    "metrics": "prometheus-client>=0.22",
}

# Deeper than any tree of dependencies here; a resolution that does not converge has to end.
_MAX_ROUNDS = 20
# The function uses nothing newer than this, and an older machine has only older wheels.
_FLEXIBLE_PINS = {"numpy": ">=2.0"}

# From a package's name to its dependencies.
_ListDependencies = Callable[[str], Sequence[Requirement]]


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One package of a lock. sha256: of the one wheel that fits the machine."""

    name: str
    version: str
    sha256: str

    @property
    def line(self) -> str:
        """Format the package as a line of a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


@dataclass(frozen=True, slots=True)
class _ReportedWheel:
    pin: PinnedPackage
    dependencies: tuple[Requirement, ...]


def resolve_packages(requirements: Sequence[str], machine: Machine) -> tuple[PinnedPackage, ...]:
    """Resolve the packages that requirements need on a machine, sorted by name.

    SiteError if pip finds no wheel for one of them.
    """
    roots = [_loosen_pin(_parse_requirement(text)) for text in requirements]
    # By the text of a requirement.
    wheels: dict[str, _ReportedWheel] = {}
    # The dependencies of installed versions are likely the same, which saves most rounds.
    guess = _collect_requirements(roots, _list_installed_dependencies, machine)
    with contextlib.suppress(SiteError):
        _add_wheels(guess, wheels, machine)
    required = _collect_requirements(roots, lambda _: (), machine)
    for _ in range(_MAX_ROUNDS):
        _add_wheels(required, wheels, machine)
        last, required = (
            required,
            _collect_requirements(roots, _make_lister(wheels, required), machine),
        )
        if required == last:
            return tuple(wheels[required[name]].pin for name in sorted(required))
    raise SiteError(
        "the packages that the function needs do not converge to one version each: pin one of them"
    )


def _make_lister(
    wheels: Mapping[str, _ReportedWheel], required: Mapping[str, str]
) -> _ListDependencies:
    dependencies = {name: wheels[text].dependencies for name, text in required.items()}
    return lambda name: dependencies.get(name, ())


def list_extra_requirements(extras: Iterable[str]) -> list[str]:
    """List the requirements of some extras."""
    return [PACKAGE_EXTRAS[name] for name in sorted(set(extras))]


def format_lock(pins: Iterable[PinnedPackage]) -> bytes:
    """Format a requirements file with hashes."""
    return "".join(f"{pin.line}\n" for pin in pins).encode()


def find_older_versions(
    requirements: Iterable[str], pins: Iterable[PinnedPackage]
) -> tuple[tuple[str, str, str], ...]:
    """List the pins that have no wheel for the machine, as (name, pinned, locked version)."""
    locked = {pin.name: pin.version for pin in pins}
    older: list[tuple[str, str, str]] = []
    for requirement in map(_parse_requirement, requirements):
        name, specifier = canonicalize_name(requirement.name), str(requirement.specifier)
        pinned = specifier.removeprefix("==")
        if specifier.startswith("==") and locked.get(name, pinned) != pinned:
            older.append((name, pinned, locked[name]))
    return tuple(older)


def _add_wheels(
    required: Mapping[str, str], wheels: dict[str, _ReportedWheel], machine: Machine
) -> None:
    """Add the wheel that pip chooses for each requirement that has none yet."""
    missing = {name: text for name, text in required.items() if text not in wheels}
    if not missing:
        return
    for entry in report_wheels(missing.values(), machine):
        wheel = _parse_report_entry(entry)
        if wheel.pin.name in missing:
            wheels[missing[wheel.pin.name]] = wheel
    if absent := [name for name, text in missing.items() if text not in wheels]:
        raise SiteError(f"pip does not say what it would install of {absent[0]}: upgrade pip")


def _collect_requirements(
    roots: Sequence[Requirement],
    list_dependencies: _ListDependencies,
    machine: Machine,
) -> dict[str, str]:
    """Collect each package that the roots reach, with all specifiers of its version."""
    specifiers: dict[str, SpecifierSet] = {}
    queue = [("", root) for root in roots]
    visited: set[tuple[str, str]] = set()
    for extra, requirement in queue:
        name = canonicalize_name(requirement.name)
        marker = requirement.marker
        if marker and not marker.evaluate({**machine.markers, "extra": extra}):
            continue
        specifiers[name] = specifiers.get(name, SpecifierSet()) & requirement.specifier
        for inner in ("", *sorted(requirement.extras)):
            if (name, inner) not in visited:
                visited.add((name, inner))
                queue += [(inner, each) for each in list_dependencies(name)]
    return {
        name: f"{name}{','.join(sorted(map(str, specifier)))}"
        for name, specifier in specifiers.items()
    }


def _list_installed_dependencies(name: str) -> Sequence[Requirement]:
    """List the dependencies of the version of a package that is installed here, if one is."""
    try:
        return [Requirement(text) for text in metadata.requires(name) or ()]
    except (metadata.PackageNotFoundError, InvalidRequirement):
        return ()


def _parse_requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement:
        raise SiteError(
            f"requirements.txt: {text!r:.80} is not a requirement: run `mkdocs build` again"
        ) from None


def _loosen_pin(requirement: Requirement) -> Requirement:
    """Turn a pin into a ceiling, where the machine may have wheels of older versions only."""
    floor = _FLEXIBLE_PINS.get(canonicalize_name(requirement.name))
    pins = [each.version for each in requirement.specifier if each.operator == "=="]
    if not (floor and pins):
        return requirement
    return Requirement(f"{requirement.name}{floor},<={pins[0]}")


def _parse_report_entry(entry: Mapping[str, Any]) -> _ReportedWheel:
    """Parse an entry of pip's report; SiteError if a field is missing."""
    try:
        about = entry["metadata"]
        digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        pin = PinnedPackage(canonicalize_name(about["name"]), about["version"], digest)
        requires = about.get("requires_dist") or ()
        return _ReportedWheel(pin, tuple(Requirement(text) for text in requires))
    except (KeyError, TypeError, InvalidRequirement):
        raise SiteError("pip's report is not understood: run `pip install --upgrade pip`") from None
