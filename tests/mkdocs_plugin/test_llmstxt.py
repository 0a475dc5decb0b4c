"""A site with mkdocs-llmstxt: what that plugin writes is audited for words of notes too."""

from pathlib import Path

from answerable.serve.providers import open_function
from support.sites import NOTES, build, write_site

PRIVATE = "The gearbox of the electric winch was taken from a scrapped tractor in the spring."


def write_llms_site(folder: Path, description: str) -> Path:
    llmstxt = {
        "llmstxt": {
            "markdown_description": description,
            "full_output": "llms-full.txt",
            "sections": {"Pages": ["*.md"]},
        }
    }
    return write_site(
        folder,
        notes=NOTES,
        plugins=[llmstxt, {"answerable": {"notebook": "notebook", "answers_in": "function"}}],
    )


def test_a_site_has_both_its_llms_txt_and_its_function(tmp_path: Path) -> None:
    done = build(
        write_llms_site(tmp_path, "All that there is to know about the harbour."), "--strict"
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "site" / "llms-full.txt").read_text("utf-8")
    assert "twelve millimetres thick" in text
    assert "All that there is to know" in (tmp_path / "site" / "llms.txt").read_text("utf-8")
    reply = open_function(tmp_path / "function").answer("How thick is the chain of a mooring?")
    assert "twelve millimetres thick" in reply.text


def test_words_of_a_note_in_llms_txt_fail_the_build(tmp_path: Path) -> None:
    done = build(write_llms_site(tmp_path, f"About the harbour. {PRIVATE}"))
    assert done.returncode == 1
    assert "llms-full.txt" in done.stderr
    assert "(and 1 more place)" in done.stderr
    assert "gearbox" not in done.stderr
    assert not (tmp_path / "function").exists()
