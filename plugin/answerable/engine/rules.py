"""Rules of reading and answering that both engines share, as data: `rules.json` has them all."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# By module, or by the name of a list of words. A pattern has a form for Python, and the source and
# flags of a RegExp that matches the same texts.
RULES: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def compile_rule(module: str, name: str) -> re.Pattern[str]:
    """Compile a pattern of a module."""
    return re.compile(RULES[module][name]["python"])
