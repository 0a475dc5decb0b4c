"""The bank: off-topic questions of our own writing, which most sites have to refuse."""

from importlib.resources import files


def questions() -> tuple[str, ...]:
    """The questions of ``off_topic.txt``, one a line; a line that begins with # is a comment."""
    text = (files(__package__) / "off_topic.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))
