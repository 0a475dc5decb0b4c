"""Mistakes that the types make inexpressible: mypy refuses each, with these exact errors."""

import subprocess
import sys
from pathlib import Path

from support import sites
from support.deadlines import PATIENCE

MISTAKES = """\
from answerable.indexing.notes.notebook import Note
from answerable.serve.answers.openai_answerer import frame_evidence
from answerable.serve.types import Answer, Claim, Evidence, RoutingHint


def leak(note: Note, hint: RoutingHint, answer: Answer, evidence: Evidence) -> None:
    Evidence(passages=(note,))
    Evidence(hints=(note,))
    frame_evidence("question", note)
    print(hint.text)
    answer.mode = "supported"
    Claim("A sentence without a source.")
"""

ERRORS = [
    '7: error: Argument "passages" to "Evidence" has incompatible type "tuple[Note]"; '
    'expected "tuple[Passage, ...]"  [arg-type]',
    '8: error: Argument "hints" to "Evidence" has incompatible type "tuple[Note]"; '
    'expected "tuple[RoutingHint, ...]"  [arg-type]',
    '9: error: Argument 2 to "frame_evidence" has incompatible type "Note"; expected "Evidence"'
    "  [arg-type]",
    '10: error: "RoutingHint" has no attribute "text"  [attr-defined]',
    '11: error: Property "mode" defined in "Answer" is read-only  [misc]',
    '12: error: Missing positional argument "citations" in call to "Claim"  [call-arg]',
]


def test_private_text_a_stored_mode_and_an_uncited_claim_are_type_errors(tmp_path: Path) -> None:
    module = tmp_path / "mistakes.py"
    module.write_text(MISTAKES, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--no-incremental", "--no-error-summary"),
            *("--config-file", str(sites.ROOT / "pyproject.toml"), str(module)),
        ],
        cwd=sites.ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    errors = [line.partition("mistakes.py:")[2] for line in done.stdout.splitlines()]
    assert errors == ERRORS, done.stdout + done.stderr
