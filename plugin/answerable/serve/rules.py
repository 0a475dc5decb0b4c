"""Rules of reading and answering that both engines share, as data: `rules.json` has them all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RULES: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
