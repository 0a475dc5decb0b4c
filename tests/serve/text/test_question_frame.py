"""Frames of questions are not content, and follow-ups are recognized."""

import pytest

from answerable.serve.retrieval import question_text
from answerable.serve.retrieval.question_text import strip_frame

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
    ("question", "content_words", "is_follow_up"),
    [
        ("and on Windows?", 1, True),
        ("but why with HTTP/2?", 2, True),
        ("what about that?", 0, True),
        ("and how do I set the timeout of a client?", 4, False),
        ("what about proxies?", 1, False),
        ("timeouts", 1, False),
        ("?!", 0, False),
    ],
)
def test_follow_up_without_subject_is_recognized(
    question: str, content_words: int, *, is_follow_up: bool
) -> None:
    assert question_text.is_follow_up(question, content_words) is is_follow_up
