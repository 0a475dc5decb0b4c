"""What mypy sees: the public names, and mistakes that the types make inexpressible."""

import subprocess
import sys

import pytest

from support import sites
from support.deadlines import PATIENCE

TYPED = """\
import answerable
from answerable import Answer, Answerer, Embedder, EmbedderIdentity, Engine, Evidence
from answerable import FunctionSettings, Passage, Profile, Provider, Reply, Store

engine = answerable.open_bundle("function")
reveal_type(engine)
reveal_type(engine.answer("?").text)
reveal_type(engine.answer("?").mode)
reveal_type(answerable.__version__)


def take(
    embedder: Embedder, answerer: Answerer, store: Store, engine: Engine, provider: Provider
) -> tuple[Reply, Answer]:
    try:
        reply = Engine(store, embedder, answerer).answer("?")
    except answerable.AnswerableError:
        reply = engine.answer("?")
    return reply, reply.answer


class FirstPassage:
    label = "first"
    max_question_tokens = 0
    max_evidence_characters = None

    def __init__(self, settings: FunctionSettings) -> None:
        self.settings = settings

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        passage: Passage = evidence.passages[0]
        return {"claims": [{"text": passage.text, "evidence": []}]}


answerer: Answerer = FirstPassage(FunctionSettings())
provider = Provider(profile=Profile(floor=0.5))
identity = EmbedderIdentity("letters", "pairs", 512)
"""

REVEALED = [
    "stores.bundle.Bundle]", "str",
    "Literal['supported'] | Literal['partial'] | Literal['related-material'] | "
    "Literal['not-found']",
    "str",
]  # fmt: skip

MISTAKES = """\
from answerable.indexing.notes.notebook import Note
from answerable.engine.answers.prompt import frame_evidence
from answerable.engine.types import Answer, Claim, Evidence, RoutingHint


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


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of both modules, in one run: it reads the whole package for each."""
    folder = tmp_path_factory.mktemp("types")
    for name, text in (("typed", TYPED), ("mistakes", MISTAKES)):
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--no-incremental", "--no-error-summary"),
            *("--config-file", str(sites.ROOT / "pyproject.toml"), str(folder)),
        ],
        cwd=sites.ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.splitlines()


def test_the_public_names_have_types(output: list[str]) -> None:
    said = [line for line in output if "typed.py:" in line]
    assert all("note: Revealed type is " in line for line in said), said
    revealed = [line.split("Revealed type is ")[1].strip('"') for line in said]
    assert [
        text.removeprefix("builtins.").split("answerable.engine.")[-1] for text in revealed
    ] == REVEALED


def test_private_text_a_stored_mode_and_an_uncited_claim_are_type_errors(output: list[str]) -> None:
    errors = [line.partition("mistakes.py:")[2] for line in output if "mistakes.py:" in line]
    assert errors == ERRORS, output
