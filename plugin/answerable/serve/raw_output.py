"""Read the JSON that a model has written, without what some models wrap around it."""

import json
import re

_THOUGHTS_END = "</think>"
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+[\w+-]*+\s*+(.*\S)\s*\1", re.DOTALL)


def parse_output(text: str) -> object:
    """Parse a model's output; the text as it is where it holds no JSON.

    A ``<think>`` block before the JSON and one Markdown code fence around it are removed; the
    block's first tag may be missing, because some servers' templates write it themselves. Words
    around a fence are not removed: a model that writes prose may repeat a page that plants a draft.
    """
    _, tag, after_thoughts = text.partition(_THOUGHTS_END)
    for output in (text, after_thoughts) if tag else (text,):
        fence = _FENCE.fullmatch(output.strip())
        for candidate in (output, fence[2]) if fence else (output,):
            try:
                return json.loads(candidate)
            except (ValueError, RecursionError):
                continue
    return text
