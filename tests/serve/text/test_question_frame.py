"""Frames of questions and words that continue an earlier one are not content."""

import pytest

from answerable.serve.retrieval.question import (
    find_identifiers,
    points_back,
    strip_continuation,
    strip_frame,
)

NAMES = ("Low Water", "Mara Lindqvist")


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What does the author think about attention?", "attention"),
        ("what does Mara say about feeds?", "feeds"),
        ("Where does Mara Lindqvist write about mistakes?", "mistakes"),
        ("Does this site explain letters of credit?", "letters of credit"),
        ("Where are cookies documented?", "cookies"),
        ("Please explain the order of pages", "order of pages"),
        ("Is there an easy way to set a timeout?", "set a timeout"),
        ("Is there a way to set the timeout of it?", "set the timeout of it?"),
        ("What is the best way to reuse a client?", "reuse a client"),
        ("I am trying to upload a file", "upload a file"),
        ("Would it be possible to mount an app?", "mount an app"),
        ("How do I write a plugin?", "How do I write a plugin?"),
        ("What does RFC 7231 say about redirects?", "RFC 7231 redirects"),
        ("Where do the limits speak about leaks?", "limits leaks"),
        ("How do I explain a plan?", "How do I explain a plan?"),
        ("a C&A catalogue?", "a C&A catalogue?"),
    ],
)
def test_only_the_question_frame_is_removed(question: str, subject: str) -> None:
    assert strip_frame(question, NAMES) == subject


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("and on Windows?", "on Windows?"),
        ("But, then, why with HTTP/2?", "why with HTTP/2?"),
        ("Same for proxies?", "for proxies?"),
        ("Also or", "or"),
        ("same-origin policy", "same-origin policy"),
        ("Android and iOS", "Android and iOS"),
    ],
)
def test_only_first_words_that_continue_are_removed(question: str, subject: str) -> None:
    assert strip_continuation(question) == subject


@pytest.mark.parametrize(
    ("question", "expected"),
    [("what about that?", True), ("How do I stop it?", True), ("timeouts", False), ("?!", False)],
)
def test_question_about_what_was_said_before_is_recognized(
    question: str, *, expected: bool
) -> None:
    assert points_back(question) is expected


def test_identifiers_are_names_that_are_rarely_written_by_chance() -> None:
    question = "Does --no-cache or MAX_AGE change the HTTPStatusError of httpx.Client in an app?"
    assert find_identifiers(question) == {
        "--no-cache",
        "MAX_AGE",
        "HTTPStatusError",
        "httpx.Client",
    }
