"""What somebody has typed, read as the function would read it."""

import click

from ..serve import languages, questions


def question(text: str) -> str:
    """A cleaned question; ClickException if the function would refuse it."""
    cleaned = questions.clean(text)
    if problem := questions.problem(cleaned):
        raise click.ClickException(problem)
    return cleaned


def check_tag(language: str | None) -> None:
    """ClickException for what is no language tag."""
    if language is not None and not languages.is_tag(language):
        raise click.ClickException(f"--language: {language!r} is no tag such as en or pt-BR")
