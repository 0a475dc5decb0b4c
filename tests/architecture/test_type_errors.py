"""What the types make inexpressible: mypy refuses it, with these exact errors."""

import subprocess
import sys
from pathlib import Path

from support import sites

WRONG = """\
from answerable.indexing.notes.note import Note
from answerable.serve import prompt
from answerable.serve.types import Answer, Claim, Evidence, RoutingHint


def leak(note: Note, hint: RoutingHint, answer: Answer, evidence: Evidence) -> None:
    Evidence(passages=(note,))
    Evidence(hints=(note,))
    prompt.data("question", note)
    print(hint.text)
    answer.mode = "supported"
    Claim("A sentence without a source.")
"""

EXPECTED = [
    '7: error: Argument "passages" to "Evidence" has incompatible type "tuple[Note]"; '
    'expected "tuple[Passage, ...]"  [arg-type]',
    '8: error: Argument "hints" to "Evidence" has incompatible type "tuple[Note]"; '
    'expected "tuple[RoutingHint, ...]"  [arg-type]',
    '9: error: Argument 2 to "data" has incompatible type "Note"; expected "Evidence"  [arg-type]',
    '10: error: "RoutingHint" has no attribute "text"  [attr-defined]',
    '11: error: Property "mode" defined in "Answer" is read-only  [misc]',
    '12: error: Missing positional argument "citations" in call to "Claim"  [call-arg]',
]


def test_private_text_a_stored_mode_and_a_bare_claim_do_not_type(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--no-incremental", "--no-error-summary"),
            *("--config-file", str(sites.ROOT / "pyproject.toml"), str(wrong)),
        ],
        cwd=sites.ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    found = [line.partition("wrong.py:")[2] for line in done.stdout.splitlines()]
    assert found == EXPECTED, done.stdout + done.stderr
