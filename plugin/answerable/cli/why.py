"""``answerable why``: print what a question found, and what an author could do."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from ..check.why import Candidate, Explanation, explain_question
from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.errors import GoldError, SiteError
from .context import SiteLocation, language_option, open_engine, read_question, read_site_notebook
from .render import print_hanging, to_plain_text

_BASES = {
    "score": "",
    "known-question": ", since one of its known questions is like this",
    "same-page": ", since its page has a passage above the floor",
    "call-floor": " for the model, under the floor",
}
_FATES = {
    "left-out": "left out for those above",
    "other-language": "left out for those in the language that was asked in",
    "under-floor": "under the floor",
}


@click.command("why")
@click.argument("question", nargs=-1, required=True, metavar="QUESTION", callback=read_question)
@click.option("--expect", metavar="ID", help="What should have been found: a page, passage, note.")
@language_option
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@click.pass_obj
def command(
    location: SiteLocation, question: str, expect: str | None, language: str | None, as_json: bool
) -> None:
    """Explain what a QUESTION found, what it did not, and what an author could do."""
    engine = open_engine(*location)
    explanation = _explain(engine, location[1], question, expect, language)
    if as_json:
        click.echo(json.dumps(asdict(explanation), indent=2))
    else:
        _print_explanation(explanation, engine.store)


def _explain(
    engine: Engine[Bundle],
    config_file: Path,
    question: str,
    expect: str | None,
    language: str | None,
) -> Explanation:
    """Explain a question; the site's sources are read only where the bundle does not suffice."""
    try:
        return explain_question(engine, question, expect=expect, language=language)
    except GoldError:
        if expect is None or not config_file.is_file():
            raise
        # The bundle alone does not know the path of a note, or the reason why a page is missing.
        notes = _read_site_notes(config_file, expect)
        return explain_question(engine, question, expect=expect, language=language, notes=notes)


def _read_site_notes(config_file: Path, expect: str) -> Mapping[str, str]:
    """Read the ids of a site's notes by path; SiteError for what was left out on purpose."""
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs.site_config import load_site

    config, options = load_site(config_file)
    if Path(config.docs_dir, f"{expect}.md").is_file():
        raise SiteError(
            f"--expect: the page {expect!r} is not in the bundle: it is newer than the bundle, a "
            "draft, without text or kept out of answers by its front matter (`answerable.exclude` "
            "or `search.exclude`); correct it and run `answerable build` again"
        )
    notebook = read_site_notebook(options.notebook)
    if expect in notebook.unrouted_paths:
        raise SiteError(
            f"--expect: the note {expect!r} has `routes: off`, so no question can find it; take "
            "that out of its front matter"
        )
    return notebook.ids


def _print_explanation(explanation: Explanation, store: Bundle) -> None:
    profile = store.manifest.profile
    floors = f"{profile.floor:g}"
    if store.index.hint_ids:
        floors += f" for pages and {profile.note_floor:g} for notes"
    print_hanging("", _describe_outcome(explanation))
    for word, replacement in explanation.corrected.items():
        print_hanging("", f"“{word}” was read as “{replacement}”.")
    if explanation.candidates:
        click.echo()
        print_hanging(
            "",
            "What an answer uses comes first, in its order. The score is what the floor of "
            f"{floors} is compared with.",
        )
        click.echo("\n    score  what was found")
    for number, candidate in enumerate(explanation.candidates, 1):
        # What counts without a score has none here: it would say the opposite.
        is_scored = candidate.basis == "score" or candidate.fate == "under-floor"
        score = f"{candidate.score:.3f}" if is_scored else ""
        lacks = f"; lacks {', '.join(candidate.missing)}" if candidate.missing else ""
        print_hanging(f"{number:2}  {score:5}  ", f"{candidate.id}: {_describe_fate(candidate)}")
        print_hanging(" " * 11, f"{candidate.title}{lacks}")
    target = explanation.target
    if explanation.remedies:
        click.secho("\nWhat an author could do, the cheapest first", bold=True)
    elif explanation.expected:
        click.echo("\nWhat was expected is cited, or evidence for the model.")
    if target and not explanation.expected:
        print_hanging(
            "",
            f"This is for {target.id}, which is nearest: name another one with --expect ID. "
            "Nothing has to be done if the site is not to answer this.",
        )
    for number, remedy in enumerate(explanation.remedies, 1):
        print_hanging(f"{number}. ", remedy.text)
        if remedy.line:
            # A line that is broken cannot be imported.
            click.echo(to_plain_text(remedy.line))


def _describe_outcome(explanation: Explanation) -> str:
    outcome = explanation.outcome
    if outcome is None:
        return "There is evidence. A model answers from it, which costs money, so it is not asked."
    if outcome.reason:
        return f"not-found ({outcome.reason})"
    return f"{outcome.mode}, confidence {outcome.confidence}, cites {', '.join(outcome.cited)}"


def _describe_fate(candidate: Candidate) -> str:
    if candidate.basis is None:
        return _FATES[candidate.fate]
    use = "cited" if candidate.fate == "cited" else "evidence"
    return use + _BASES[candidate.basis]
