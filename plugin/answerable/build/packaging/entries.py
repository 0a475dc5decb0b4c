"""The files that a platform looks for: entry points and configuration, from templates."""

from pathlib import Path

from .targets import Machine, Target

_TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
# Templates of code are no modules of this package, so their names do not end like one's.
_SUFFIX = ".in"


def render(target: Target, machine: Machine) -> dict[str, bytes]:
    """A target's own files by their names in its package."""
    folder = _TEMPLATES / target.name
    found = {}
    for path in sorted(folder.rglob(f"*{_SUFFIX}")):
        name = path.relative_to(folder).as_posix().removesuffix(_SUFFIX)
        text = path.read_text(encoding="utf-8").replace("@python@", machine.version)
        found[name] = text.encode()
    return found
