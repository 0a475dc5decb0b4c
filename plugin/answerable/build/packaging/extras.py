"""What a function may need beside its providers, chosen when it is packaged."""

from collections.abc import Iterable

# As the extras of mkdocs-answerable name them.
EXTRAS = {
    "redis": "redis>=5,<8",
    "challenge": "altcha>=2.3,<3",
    "metrics": "prometheus-client>=0.22",
}


def of(chosen: Iterable[str]) -> list[str]:
    """The requirements of extras."""
    return [EXTRAS[name] for name in sorted(set(chosen))]
