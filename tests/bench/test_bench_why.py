"""The benchmark of `answerable why` writes the sentence that is named where it is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import sites
from support.deadlines import PATIENCE
from support.fuzz_settings import deep

sys.path.append(str(sites.ROOT / "eval" / "bench"))

import why

PAGE = """---
title: Mooring
---
# Mooring { #mooring }

A buoy.

```sh
# Chains
```

## The `Chains` of [iron](iron.md) { #chains }

Twelve millimetres.

### Rust

Brush it.
"""


def edit(*under: str, heading: str = "") -> dict[str, object]:
    return {"under": list(under), "heading": heading, "sentence": "Thick chain: …"}


@pytest.mark.parametrize(
    ("page_edit", "fact", "before", "after"),
    [
        (edit("Mooring"), "yes", "# Mooring { #mooring }\n\nThick chain: yes.\n\n", "\nA buoy."),
        (
            edit("Mooring", "The Chains of iron"),
            "it is.",
            "{ #chains }\n\nThick chain: it is.\n\n",
            "\nTwelve",
        ),
        (
            edit("Mooring", "The Chains of iron"),
            "",
            "{ #chains }\n\nThick chain: The Chains of iron.\n\n",
            "\nTwelve",
        ),
        (
            edit("Mooring", "The Chains of iron", heading="Thick chain"),
            "yes",
            "Twelve millimetres.\n\n\n### Thick chain\n\nThick chain: yes.\n\n",
            "### Rust",
        ),
        (
            edit("Mooring", "The Chains of iron", "Rust", heading="Thick chain"),
            "yes",
            "Brush it.\n\n\n#### Thick chain\n\nThick chain: yes.\n",
            "",
        ),
        (edit("No such heading"), "yes", "---\n\nThick chain: yes.\n\n", "# Mooring"),
    ],
)
def test_sentence_is_written_under_the_heading_that_is_named(
    page_edit: dict[str, object], fact: str, before: str, after: str
) -> None:
    written = why.write_edit(PAGE, page_edit, fact)
    assert before + after in written
    page_lines = [line for line in PAGE.split("\n") if line]
    assert [line for line in written.split("\n") if line in page_lines] == page_lines


def test_wordings_leave_out_each_content_word() -> None:
    assert list(why.iterate_wordings("How thick is a chain?")) == [
        "How is a chain?",
        "How thick is a",
    ]
    assert list(why.iterate_wordings("chain?")) == []


@deep
def test_first_advice_mends_a_wrong_verdict_of_a_site_of_our_own(tmp_path: Path) -> None:
    sites.write_site(tmp_path / "sites" / "harbour", plugins=["search"])
    rows = [
        {"id": "a", "question": "How thick is a mooring chain?", "gold_urls": ["mooring/"]},
        {"id": "b", "question": "Which beacon tells of a gale?", "gold_urls": ["storms/"]},
        {"id": "c", "question": "Who sang at the Vienna opera?", "gold_urls": []},
    ]
    lines = [json.dumps(row | {"answerable": bool(row["gold_urls"])}) for row in rows]
    sites.put(tmp_path / "questions" / "harbour.jsonl", "\n".join(lines))
    gold = {"id": "b", "gold_sections": ["storms/#lanterns"],
            "answer_spans": ["A red lantern warns of wind above thirty knots."]}  # fmt: skip
    sites.put(tmp_path / "gold" / "harbour.jsonl", json.dumps(gold))
    done = subprocess.run(
        [sys.executable, why.__file__, "--data", str(tmp_path), "--json"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)["rows"]
    assert [(row["name"], row["fact"]) for row in measured] == [
        ("harbour", "span"), ("harbour", "heading")
    ]  # fmt: skip
    for row in measured:
        counts = [row[name] for name in ("questions", "wrong", "taken", "mended", "first")]
        assert counts == [3, 1, 1, 1, 1]
        assert [row[name] for name in ("newly_wrong", "together", "beside")] == [0, 1, 0]
        (mended,) = row["edits"]
        assert (mended["id"], mended["before"], mended["after"]) == ("b", "not-found", "partial")
        assert row["worded"] > row["worded_before"]
    page = tmp_path / "sites" / "harbour" / "docs" / "storms.md"
    assert page.read_text(encoding="utf-8") == sites.PAGES["storms.md"]
