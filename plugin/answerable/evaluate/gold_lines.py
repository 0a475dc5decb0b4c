"""Locate each query of a gold file, for messages that point to its line."""

from pathlib import Path

import yaml


def locate_queries(path: Path) -> dict[str, int]:
    """Locate the queries of a gold file: the line of each, from 1, by its id; {} if it is broken.

    What is wrong with a file is for its loader to say.
    """
    try:
        root = yaml.compose(path.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    if isinstance(root, yaml.MappingNode):
        root = next(
            (value for _, value in root.value if isinstance(value, yaml.SequenceNode)), None
        )
    rows = root.value if isinstance(root, yaml.SequenceNode) else []
    return {
        str(value.value): row.start_mark.line + 1
        for row in rows
        if isinstance(row, yaml.MappingNode)
        for key, value in row.value
        if key.value == "id"
    }
