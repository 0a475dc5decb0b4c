"""What a function may need beside its providers, chosen when it is packaged.

From requirements to a lock: every package that a machine needs, with its version and hash.

Pip reads environment markers as those of the machine that it runs on, so it is asked for one level
at a time and the markers are read here, as those of the machine that the package is for.
"""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ...serve.errors import SiteError
from .platforms import Machine
from .wheels import report_wheels

# As the extras of mkdocs-answerable name them.
PACKAGE_EXTRAS = {
    "redis": "redis>=5,<8",
    "challenge": "altcha>=2.3,<3",
    "metrics": "prometheus-client>=0.22",
}


def list_extra_requirements(chosen: Iterable[str]) -> list[str]:
    """The requirements of extras."""
    return [PACKAGE_EXTRAS[name] for name in sorted(set(chosen))]


# From a package's name to what it needs.
Requires = Callable[[str], Sequence[Requirement]]

# Deeper than any tree of dependencies here; one that never settles has to end.
_ROUNDS = 20

# Only what tokenizers imports to fetch a tokenizer by name, which the function never does.
NEVER_IMPORTED = frozenset({("tokenizers", "huggingface-hub")})

# The function uses nothing newer than this, and an older machine has only older wheels.
_FLEXIBLE = {"numpy": ">=2.0"}


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One package of a lock. sha256: of the one wheel that fits the machine."""

    name: str
    version: str
    sha256: str

    @property
    def line(self) -> str:
        """As a line of a requirements file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


@dataclass(frozen=True, slots=True)
class _Found:
    pin: PinnedPackage
    requires: tuple[Requirement, ...]


def resolve_packages(
    requirements: Sequence[str],
    machine: Machine,
    left_out: Collection[tuple[str, str]] = (),
) -> tuple[PinnedPackage, ...]:
    """The packages that requirements need on a machine, by name.

    left_out: dependencies to leave out, as (package, dependency). SiteError if pip finds no wheel
    for one of them.
    """
    roots = [_flexible(_requirement(text)) for text in requirements]
    found: dict[str, _Found] = {}
    # What is installed here likely needs the same: a good guess saves asking level by level.
    guess = _wanted(roots, _installed, machine, left_out)
    with contextlib.suppress(SiteError):
        _ask(guess, found, machine)
    wanted = _wanted(roots, lambda _: (), machine, left_out)
    for _ in range(_ROUNDS):
        _ask({name: text for name, text in wanted.items() if text not in found}, found, machine)
        known = {name: found[text] for name, text in wanted.items()}
        before, wanted = wanted, _wanted(roots, _requires(known), machine, left_out)
        if wanted == before:
            return tuple(found[wanted[name]].pin for name in sorted(wanted))
    raise SiteError("the packages that the function needs do not settle: pin one of them")


def _ask(wanted: Mapping[str, str], found: dict[str, _Found], machine: Machine) -> None:
    """Add what pip finds of some packages alone to what was found."""
    if not wanted:
        return
    for entry in report_wheels(wanted.values(), machine):
        item = _parse_report_entry(entry)
        if item.pin.name in wanted:
            found[wanted[item.pin.name]] = item
    if absent := [name for name, text in wanted.items() if text not in found]:
        raise SiteError(f"pip does not say what it would install of {absent[0]}: upgrade pip")


def format_lock(pins: Iterable[PinnedPackage]) -> bytes:
    """A requirements file with hashes."""
    return "".join(f"{pin.line}\n" for pin in pins).encode()


def find_older_versions(
    requirements: Iterable[str], pins: Iterable[PinnedPackage]
) -> tuple[tuple[str, str, str], ...]:
    """Requirements whose pinned version has no wheel for the machine: (name, pinned, taken)."""
    taken = {pin.name: pin.version for pin in pins}
    pinned = [
        (canonicalize_name(r.name), str(r.specifier)) for r in map(_requirement, requirements)
    ]
    named = [(name, text.removeprefix("==")) for name, text in pinned if text.startswith("==")]
    return tuple((n, text, taken[n]) for n, text in named if taken.get(n, text) != text)


def _wanted(
    roots: Sequence[Requirement],
    requires: Requires,
    machine: Machine,
    left_out: Collection[tuple[str, str]],
) -> dict[str, str]:
    """Each package that the roots reach, with all that is asked of its version."""
    specifiers: dict[str, SpecifierSet] = {}
    waiting = [("", "", root) for root in roots]
    seen = set()
    for parent, extra, requirement in waiting:
        name = canonicalize_name(requirement.name)
        marker = requirement.marker
        if (parent, name) in left_out:
            continue
        if marker and not marker.evaluate({**machine.markers, "extra": extra}):
            continue
        specifiers[name] = specifiers.get(name, SpecifierSet()) & requirement.specifier
        for inner in ("", *sorted(requirement.extras)):
            if (name, inner) not in seen:
                seen.add((name, inner))
                waiting += [(name, inner, each) for each in requires(name)]
    return {
        name: f"{name}{','.join(sorted(map(str, specifier)))}"
        for name, specifier in specifiers.items()
    }


def _requires(known: Mapping[str, _Found]) -> Requires:
    return lambda name: known[name].requires if name in known else ()


def _installed(name: str) -> Sequence[Requirement]:
    """What the version of a package needs that is installed here, if one is."""
    try:
        return [Requirement(text) for text in metadata.requires(name) or ()]
    except (metadata.PackageNotFoundError, InvalidRequirement):
        return ()


def _requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement:
        raise SiteError(
            f"requirements.txt: {text!r:.80} is no requirement: run `mkdocs build` again"
        ) from None


def _flexible(requirement: Requirement) -> Requirement:
    """A pin as a ceiling, where the machine may have wheels of older versions only."""
    least = _FLEXIBLE.get(canonicalize_name(requirement.name))
    pins = [each.version for each in requirement.specifier if each.operator == "=="]
    if not (least and pins):
        return requirement
    return Requirement(f"{requirement.name}{least},<={pins[0]}")


def _parse_report_entry(entry: Mapping[str, Any]) -> _Found:
    """An entry of pip's report; SiteError if it does not say what it should."""
    try:
        about = entry["metadata"]
        digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        requires = tuple(Requirement(text) for text in about.get("requires_dist") or ())
        return _Found(
            PinnedPackage(canonicalize_name(about["name"]), about["version"], digest), requires
        )
    except (KeyError, TypeError, InvalidRequirement):
        raise SiteError("pip's report is not understood: run `pip install --upgrade pip`") from None
