"""The daily cap of a published function holds for a paid answerer that a package registers."""

import json
import shutil
from pathlib import Path

import pytest

from support import registered_packages, sites
from support.published_functions import serving

# It follows the manual and no more: how a call counts its tokens is not in its protocol.
PAID = """
from answerable import Provider


class Paid:
    label = "paid"
    max_question_tokens = 400_000
    max_evidence_characters = 24_000

    def draft(self, question, evidence, violation=None):
        passage = evidence.passages[0]
        start, end = passage.sentences[0]
        text = passage.text[start:end]
        return {"claims": [{"text": text, "evidence": [{"source": "s1", "quote": text}]}]}


PROVIDER = Provider(factory=lambda store, embedder, settings: Paid())
"""
COUNTING = PAID.replace(
    "from answerable import Provider\n",
    "from answerable import Provider\n"
    "from answerable.serve.request_context import current_context\n",
).replace(
    "        passage =",
    "        current_context().end_provider_call(1_200, 300)\n        passage =",
)
QUESTIONS = (
    "How thick is the chain of a mooring?",
    "Which lantern warns of wind?",
    "What does the crew double before a storm?",
    "Which buoy does a mooring need?",
    "Is a red lantern a warning?",
)


def publish(folder: Path, code: str) -> Path:
    """Build a site with a registered answerer; its function, with the package beside its code."""
    packages = folder / "packages"
    registered_packages.install(packages, "paid", code, "answerers", {"paid": "paid:PROVIDER"})
    options = {"answers": {"provider": "paid"}, "retrieval": {"floor": 0}}
    site = sites.write_site(folder / "site", options=options)
    done = registered_packages.build(site, packages, "-q")
    assert done.returncode == 0, done.stderr
    shutil.copytree(packages, site / "function", dirs_exist_ok=True)
    return site / "function"


@pytest.mark.parametrize(
    ("code", "statuses", "tokens"),
    [(PAID, [200, 200, 503, 503, 503], 0), (COUNTING, [200] * 5, 1_500)],
)
def test_the_cap_counts_the_bound_of_a_question_or_what_is_reported(
    tmp_path: Path, code: str, statuses: list[int], tokens: int
) -> None:
    function = publish(tmp_path, code)
    with serving(function, ANSWERABLE_TOKENS_PER_DAY="1000000") as running:
        responses = [running.request("POST", "/answer", {"question": each}) for each in QUESTIONS]
    assert [status for status, _ in responses] == statuses
    bodies = [json.loads(text) for _, text in responses]
    assert [body["mode"] for body in bodies if "mode" in body] == ["partial"] * statuses.count(200)
    assert {body["code"] for body in bodies if "mode" not in body} <= {"capped"}
    lines = [json.loads(line) for line in running.lines if line.startswith('{"')]
    counts = [line["tokens_in"] + line["tokens_out"] for line in lines if line["status"] == 200]
    assert counts == [tokens] * statuses.count(200)
