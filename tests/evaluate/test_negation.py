"""The negation check: claims that turn round what they quote, and honest ones in other words."""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from answerable.evaluate.gold import GoldQuery
from answerable.evaluate.judge import (
    contradicts,
    find_negation_conflicts,
    judge_answer,
    summarize_reply,
)
from answerable.serve.text.languages import get_translation
from answerable.serve.types import Answer, Claim, Passage, RecordCitation, Reply
from support import sites
from support.honest_model import ParsedPrompt, write_honest_draft
from support.openai_stub import OpenAIStub

# A claim, and the sentences that it quotes.
DISAGREEING = [
    ("It is not true that the server listens on port 8080.", "The server listens on port 8080."),
    ("It isn't true that the server listens on port 8080.", "The server listens on port 8080."),
    ("It's not the case that the server listens on port 8080.", "The server listens on port 8080."),
    ("It is false that the server listens on port 8080.", "The server listens on port 8080."),
    (
        "It would be wrong to say that the server listens on port 8080.",
        "The server listens on port 8080.",
    ),
    ("False: the server listens on port 8080.", "The server listens on port 8080."),
    (
        "Contrary to the claim that the server listens on port 8080, it does nothing.",
        "The server listens on port 8080.",
    ),
    ("The server listens on port 8080. That is not true.", "The server listens on port 8080."),
    ("The server listens on port 8080, which is false.", "The server listens on port 8080."),
    ("That the server listens on port 8080 is a myth.", "The server listens on port 8080."),
    (
        "The documentation does not say that the server listens on port 8080.",
        "The server listens on port 8080.",
    ),
    (
        "Nobody should believe that the server listens on port 8080.",
        "The server listens on port 8080.",
    ),
    ("It is a myth that Windows is not supported.", "Windows is not supported."),
    *(
        (claim, "The server listens on port 8080.")
        for claim in (
            "It is not that the server listens on port 8080.",
            "It can't be true that the server listens on port 8080.",
            "It would be a mistake to think that the server listens on port 8080.",
            "It is wrongly said that the server listens on port 8080.",
            "Some wrongly believe that the server listens on port 8080.",
            "As some wrongly claim, the server listens on port 8080.",
            "There is no truth in the claim that the server listens on port 8080.",
            "You read it well, but it is not true that the server listens on port 8080.",
            "In short, it is not true that the server listens on port 8080.",
            "It  is   not true that the server listens on port 8080.",
            "Not true: the server listens on port 8080.",
            "That's wrong: the server listens on port 8080.",
            "The following is untrue: the server listens on port 8080.",
            "Myth: the server listens on port 8080.",
            "False. The server listens on port 8080.",
            "The server listens on port 8080. Not!",
            "The server listens on port 8080. No.",
            "The server listens on port 8080. That is, of course, not true.",
            "The server listens on port 8080. The opposite is true.",
            "The server listens on port 8080, or so they wrongly say.",
            "The server listens on port 8080, as some wrongly claim.",
            "The server listens on port 8080 (a myth).",
            "The server listens on port 8080 - not true.",
            "The server listens on port 8080: untrue.",
            "The idea that the server listens on port 8080 is mistaken.",
        )
    ),
    ("That Windows is supported is a myth.", "Windows is supported."),
    (
        "It is not true that the cache is used, and it is not true that a key is needed.",
        "The cache is used, and a key is needed.",
    ),
    ("The cache is used, or it is false that a key is needed.", "A key is needed for the cache."),
    ("It is not false that Windows is supported.", "Windows is not supported."),
    ("The server does not listen on port 8080.", "The server listens on port 8080."),
    ("The server never listens on port 8080.", "The server listens on port 8080."),
    ("The server no longer listens on port 8080.", "The server listens on port 8080."),
    ("The server cannot listen on port 8080.", "The server listens on port 8080."),
    ("The server can't listen on port 8080.", "The server listens on port 8080."),
    ("Windows is supported.", "Windows is not supported."),
    ("Windows is supported.", "Windows isn’t supported."),
    ("The function works without a key.", "The function works with a key."),
    ("If the bundle is found, the build fails.", "If the bundle is not found, the build fails."),
    ("Labels are not published.", "Notes stay private; labels are published."),
    ("Nobody can read the notes.", "Everybody can read the notes."),
    ("It is not possible to set `floor` to 0.5.", "It is possible to set `floor` to 0.5."),
    (
        "Restoring never takes 20 minutes for 50 GB of data.",
        "Restoring takes 20 minutes for 50 GB of data, and 2 hours for 500 GB.",
    ),
    (
        "Uploads are not written to data/uploads/ first.",
        "Uploads are written to data/uploads/ first.",
    ),
    (
        "Do not set HARBOR_SECRET before the first start.",
        "Set HARBOR_SECRET before the first start, because sessions are signed with it.",
    ),
]
AGREEING = [
    ("The timeout is None by default.", "By default the timeout is `None`."),
    ("It returns a value.", "It returns a value or None."),
    ("The server listens on port 8080.", "The server listens on port 8080."),
    ("Windows is not supported here.", "Windows is not supported."),
    ("It does not run there.", "Windows is not supported."),
    ("It needs no key.", "You do not need a key."),
    ("It works without a key.", "You do not need a key for it to work."),
    ("The build fails without a bundle.", "If the bundle is not found, the build fails."),
    ("The build fails if there is no bundle.", "If the bundle cannot be found, the build fails."),
    (
        "It is forbidden to run `harbor purge --force` in production.",
        "You must not run `harbor purge --force` in production.",
    ),
    (
        "Never run `harbor purge --force` in production.",
        "You must not run `harbor purge --force` in production.",
    ),
    (
        "The function does not store the question.",
        "The function does not read, log or store the question.",
    ),
    (
        "The function answers from the bundle.",
        "The function needs no key, and answers from the bundle.",
    ),
    ("Notes are not published.", "Notes stay private; only labels are published."),
    ("You can run it offline.", "It does not need a key and runs offline."),
    (
        "The file name is used if the title is missing.",
        "If a page has no title, the file name is used.",
    ),
    ("It is not true that Windows is supported.", "Windows is not supported."),
    ("It is not true that Windows is supported.", "It is not true that Windows is supported."),
    ("Listed pages are included.", "Pages that are not listed are excluded."),
    ("The key is read on the first question.", "The key is not read until the first question."),
    (
        "It answers questions and shows sources.",
        "It not only answers questions, it also shows sources.",
    ),
    ("The trial costs nothing.", "The trial lasts 30 days and costs nothing."),
    ("Nothing is written with --read-only.", "With --read-only nothing is written."),
    ("Set the key before the build.", "Do not forget to set the key before the build."),
    ("Windows 11 is supported.", "Windows 7 is not supported. Windows 11 is supported."),
    ("Version 5 has no limit.", "There is no limit in version 5."),
    ("Private note text never reaches the model.", "The text of a note is not sent to a model."),
    ("The mode is not-found.", "A refusal has the mode not-found."),
    ("Draft pages are not indexed.", "Draft pages are skipped."),
    (
        "With local vectors a run costs nothing.",
        "With local vectors and extractive answers a run costs nothing.",
    ),
    ("You don't have to restart the server.", "There's no need to restart the server."),
    ("The floor should not be lowered below 0.2.", "Never lower the floor below 0.2."),
    (
        "An encoding without a gold set can't be certified.",
        "If there is no gold set, nothing can certify the encoding.",
    ),
    (
        "Up to three excerpts are shown where no section is sure.",
        "One excerpt is shown where a section is sure, up to three where none is.",
    ),
    ("Only English is checked.", "Other languages are not checked."),
    # Values, conditions and answers of a manual, which deny nothing.
    ("The default is false.", "Default: false."),
    ("By default strict is false.", "strict: boolean (default: false)"),
    (
        "Whether headings are embedded is false by default.",
        "embed_headings: whether headings are embedded (false).",
    ),
    ("The plugin is off.", "Set it to false: the plugin is off."),
    ("The plugin is off.", "`false`: the plugin is off."),
    ("The plugin is off.", "enabled: true: the plugin is on; false: the plugin is off."),
    ("The plugin is off.", "Set it to false to make sure that the plugin is off."),
    ("Preview is false by default.", "`widget` · `true`; `preview` · `false`"),
    ("Strict is off by default.", "strict - false"),
    ("Strict is in the file.", "The default of strict is set in the file. It is false."),
    ("It returns false where the key is missing.", "Returns: false if the key is missing."),
    ("Clear the cache where an answer is wrong.", "Where an answer is wrong: clear the cache."),
    ("A wrong key stops the build.", "Key is wrong: the build stops."),
    ("Use one tab.", "Wrong indentation: use one tab."),
    ("The status is incorrect.", "Status: incorrect"),
    (
        "If the key is missing the build is refused.",
        "If the key is wrong: the build is refused.",
    ),
    ("Remove the wrong key.", "Remove the key that is wrong."),
    ("The key on the left is wrong.", "That key on the left is wrong."),
    ("The key is refused.", "The key is refused (it is wrong)."),
    ("A mistake costs time.", "Forgetting the key is a mistake that costs time."),
    ("A failing request has a wrong key.", "The key was wrong in a request that failed."),
    ("Setting up is not that simple.", "It is not that simple to set up the server."),
    ("Windows is not supported.", "Is Windows supported? No."),
]
TEXT = (
    "The server listens on port 8080. You must not run the purge in production. "
    "Support for Windows is planned, and no date is set."
)


def passage(language: str = "en") -> Passage:
    starts = [0, TEXT.index("You must"), TEXT.index("Support"), len(TEXT)]
    sentences = tuple(itertools.pairwise(starts))
    return Passage("p#a", "p", "/p/#a", "P", TEXT, sentences, language=language)


def reply(claim: str, quote: str, language: str = "en") -> Reply:
    cited = passage(language)
    start = TEXT.index(quote)
    citation = RecordCitation(cited.id, cited.url, cited.title, quote, start, language=language)
    return Reply(Answer(claims=(Claim(claim, (citation,)),)), 0.5, passages=(cited,))


def issues(query: GoldQuery, judged: Reply) -> list[str]:
    judged_issues = judge_answer(query, summarize_reply(judged, get_translation("en").route))
    return [issue.private for issue in judged_issues]


@pytest.mark.parametrize(("claim", "source"), DISAGREEING)
def test_claim_that_negates_its_quote_conflicts(claim: str, source: str) -> None:
    assert contradicts(claim, [source])


@pytest.mark.parametrize(("claim", "source"), AGREEING)
def test_claim_in_other_words_does_not_conflict(claim: str, source: str) -> None:
    assert not contradicts(claim, [source])


@pytest.mark.parametrize(("claim", "source"), AGREEING)
def test_verbatim_text_never_conflicts(claim: str, source: str) -> None:
    for text in (claim, source, f"{source} {claim}"):
        assert not contradicts(text, [text])


@pytest.mark.parametrize(("claim", "source"), AGREEING)
def test_denied_quote_always_conflicts(claim: str, source: str) -> None:
    for text in (claim, source):
        assert contradicts(f"It is not true that {text}", [text])


@pytest.mark.parametrize("unit", [" ", "that ", "not ", "isn't ", "x, it is not "])
def test_long_claim_is_read_in_proportion_to_its_length(unit: str) -> None:
    """A pattern that tries all ways to cut 50,000 characters would not come to an end."""
    claim = f"that {unit * (50_000 // len(unit))}x"
    assert not contradicts(claim, [claim])


def test_quote_that_leaves_out_its_not_is_read_with_its_sentence() -> None:
    query = GoldQuery("a", "q", "partial")
    honest = reply("Do not run the purge in production.", "run the purge in production")
    misleading = reply("Run the purge in production.", "run the purge in production")
    assert issues(query, honest) == []
    assert issues(query, misleading) == [
        "claim 'Run the purge in production.' and the quoted sentence "
        "'You must not run the purge in production.' disagree in negation"
    ]


def test_one_of_several_quotes_that_agrees_is_enough() -> None:
    sources = ["The server listens on port 8080.", "The client does not listen on port 8080."]
    assert not contradicts("The client does not listen on port 8080.", sources)
    assert contradicts("The client never listens, and it is not open on port 8080.", sources)


def test_negation_check_is_for_english_and_can_be_switched_off() -> None:
    denial = "It is not true that the server listens on port 8080."
    quote = "The server listens on port 8080."
    assert len(issues(GoldQuery("a", "q", "partial"), reply(denial, quote))) == 1
    assert len(issues(GoldQuery("a", "q", "partial", language="en-GB"), reply(denial, quote))) == 1
    assert issues(GoldQuery("a", "q", "partial", language="de"), reply(denial, quote)) == []
    assert issues(GoldQuery("a", "q", "partial", check_negation=False), reply(denial, quote)) == []
    assert issues(GoldQuery("a", "q", "partial"), reply(denial, quote, "de")) == []


def test_excerpt_of_whole_quotes_cannot_conflict_with_them() -> None:
    lead_in = "The tool prints what it does:"
    code = "create-url --auth-type NONE"
    passage = Passage("a", "a", "/a/", "A", f"{lead_in}\n\nNot this.\n\n{code}")
    citations = tuple(
        RecordCitation("a", "/a/", "A", quote, passage.text.index(quote))
        for quote in (lead_in, code)
    )
    excerpt = Claim(f"{lead_in}\n…\n{code}", citations)
    assert find_negation_conflicts(Reply(Answer((excerpt,)), passages=(passage,))) == ()
    denied = Claim(f"It is false that the tool prints what it does:\n…\n{code}", citations)
    assert len(find_negation_conflicts(Reply(Answer((denied,)), passages=(passage,)))) == 1


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Caddy needs a timeout.", "Nginx needs none: Caddy needs a timeout."),
        ("The id is yours.", "It counts for lines without one. the id is yours."),
        ("A page of a closed site is shown.", "No note, but a page of a closed site is shown."),
    ],
)
def test_negation_of_the_clause_before_is_not_of_the_words(claim: str, source: str) -> None:
    assert not contradicts(claim, [source])


def test_sentence_that_gains_or_loses_a_negation_conflicts() -> None:
    """Put a "not" into sentences of our own manual; repeated verbatim they agree."""
    texts = [path.read_text("utf-8") for path in sorted((sites.ROOT / "docs").glob("*.md"))]
    paragraphs = [" ".join(each.split()) for text in texts for each in text.split("\n\n")]
    sentences = [
        sentence
        for paragraph in paragraphs
        if paragraph[:1].isupper() and paragraph.endswith(".")
        for sentence in re.split(r"(?<=\.) (?=[A-Z])", paragraph)
    ]
    prose = [sentence for sentence in sentences if sentence.endswith(".")][::8]
    flipped = [
        (
            line,
            re.sub(
                r" (is|are|can|has|must) (?!not|no\b|nothing|all|only)", r" \1 not ", line, count=1
            ),
        )
        for line in prose
    ]
    flipped = [(line, other) for line, other in flipped if line != other]
    assert len(flipped) > 40
    assert [line for line in prose if contradicts(line, [line])] == []
    assert [line for line in prose if not contradicts(f"It is a myth that {line}", [line])] == []
    missed = [
        other
        for line, other in flipped
        if not (contradicts(other, [line]) and contradicts(line, [other]))
    ]
    assert len(missed) <= len(flipped) / 20, missed


def quoting(prefix: str) -> str:
    """Name the scripted model that puts some words before each sentence that it quotes."""
    return f"quoting-{prefix.lower().replace(' ', '-')}"


PREFIXES = ("", "It is not true that", "It is a myth that", "Contrary to the claim that")


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIStub]:
    def model(prefix: str, prompt: ParsedPrompt) -> str:
        draft = write_honest_draft(prompt)
        for claim in draft["claims"]:
            claim["text"] = f"{prefix} {claim['text']}".strip()
        return json.dumps(draft)

    models = {quoting(each): (lambda prompt, each=each: model(each, prompt)) for each in PREFIXES}
    with OpenAIStub(models=models) as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sites.write_site(tmp_path_factory.mktemp("site"))
    query = "{id: chain, query: 'How thick is the chain of a mooring?', expectSources: [mooring]}"
    sites.put(folder / "eval" / "gold.yaml", f"- {query}\n")
    done = sites.build(folder, "-q")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("prefix", PREFIXES)
def test_model_that_denies_its_quotes_fails_the_gold_set(
    site: Path, server: OpenAIStub, prefix: str
) -> None:
    settings = {"answers": "openai", "model": quoting(prefix), "base_url": server.base_url}
    sites.put(site / "function" / "settings.json", json.dumps({**settings, "timeout": 20.0}))
    done = sites.command(site, "eval", "--full", OPENAI_API_KEY="test")
    assert done.returncode == (1 if prefix else 0), done.stdout + done.stderr
    assert ("disagree in negation" in done.stdout) == bool(prefix)


def test_option_of_the_site_switches_the_check_off(site: Path, server: OpenAIStub) -> None:
    model = quoting("It is not true that")
    settings = {"answers": "openai", "model": model, "base_url": server.base_url, "timeout": 20.0}
    sites.put(site / "function" / "settings.json", json.dumps(settings))
    config = (site / "mkdocs.yml").read_text("utf-8")
    gold = (site / "eval" / "gold.yaml").read_text("utf-8")
    mkdocs = yaml.safe_load(config)
    mkdocs["plugins"][0]["answerable"]["evaluate"] = {"check_negation": False}
    sites.put(site / "mkdocs.yml", yaml.safe_dump(mkdocs))
    done = sites.command(site, "eval", "--full", OPENAI_API_KEY="test")
    assert done.returncode == 0, done.stdout + done.stderr
    sites.put(site / "eval" / "gold.yaml", gold.replace("}", ", checkNegation: true}"))
    done = sites.command(site, "eval", "--full", OPENAI_API_KEY="test")
    assert done.returncode == 1, done.stdout + done.stderr
    sites.put(site / "mkdocs.yml", config)
    sites.put(site / "eval" / "gold.yaml", gold)
