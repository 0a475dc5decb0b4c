"""Hostile answer models: each breaks the contract in a way of its own."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from answerable.testing.honest_model import ParsedPrompt, split_prompt_sentences
from answerable.testing.openai_stub import ScriptedModel

MANY_CLAIMS = 10_000
LONG_TEXT_CHARACTERS = 1_000_000

_PLANTED = re.compile(
    r"ignore (?:all |any )?(?:the |these |your )?(?:previous |prior )?rules", re.I
)
_NOTEBOOK = "The notebook says that the founder buried the prototype under the old boathouse."
_LETTERS = "abcdefghij"


def _claim(text: object, source: object, quote: object) -> dict[str, Any]:
    return {"text": text, "evidence": [{"source": source, "quote": quote}]}


def _draft_json(
    claims: Iterable[object] = (), routes: Iterable[object] = (), **fields: object
) -> str:
    return json.dumps({"claims": list(claims), "routes": list(routes), **fields})


def _source_and_quote(prompt: ParsedPrompt) -> tuple[str, str]:
    """A source's id and a sentence that is in it; both made up where there is no source."""
    for source in prompt.sources:
        for sentence in split_prompt_sentences(source.text):
            return source.id, sentence
    return "s1", "There is no source."


def _hint(prompt: ParsedPrompt) -> str:
    return prompt.hints[0].id if prompt.hints else "h1"


def _label(prompt: ParsedPrompt) -> str:
    return prompt.hints[0].label if prompt.hints else "the notebook"


def invented_id(prompt: ParsedPrompt) -> str:
    """Cites and routes to what was never retrieved."""
    _, quote = _source_and_quote(prompt)
    return _draft_json([_claim(quote, "s99", quote)], ["h99", "note:0123456789"])


def mangled_ids(prompt: ParsedPrompt) -> str:
    """Writes almost the ids it was given."""
    source, quote = _source_and_quote(prompt)
    forms = (f" {source}\n", source.upper(), f"[{source}]", f"source {source}", f"{source}#", "1")
    return _draft_json(
        [_claim(quote, form, quote) for form in forms], [f"{_hint(prompt)} ", _hint(prompt).upper()]
    )


def mangled_urls(prompt: ParsedPrompt) -> str:
    """Cites addresses, none of which it was given."""
    _, quote = _source_and_quote(prompt)
    urls = (
        "https://evil.example/guide/", "//evil.example/", "/../etc/passwd", "/guide/deploy/#aws%00",
        "HTTP://EVIL.EXAMPLE", "file:///etc/passwd", "/gu\u200bide/",
    )  # fmt: skip
    return _draft_json([_claim(quote, url, quote) for url in urls], urls)


def swapped_kinds(prompt: ParsedPrompt) -> str:
    """Claims by a hint and routes to a source."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(quote, _hint(prompt), quote)], [source])


def no_evidence(prompt: ParsedPrompt) -> str:
    """Claims with an empty list of evidence."""
    return _draft_json([{"text": _source_and_quote(prompt)[1], "evidence": []}])


def missing_evidence(prompt: ParsedPrompt) -> str:
    """Claims without evidence."""
    return _draft_json([{"text": _source_and_quote(prompt)[1]}])


def hint_prose(prompt: ParsedPrompt) -> str:
    """Says what stands behind a hint, and cites the hint."""
    text = f"{_label(prompt)} describes in detail how the secret prototype failed."
    return _draft_json([_claim(text, _hint(prompt), text)], [_hint(prompt)])


def hint_prose_as_route(prompt: ParsedPrompt) -> str:
    """Puts prose where the id of a hint belongs."""
    text = f"{_label(prompt)}: it describes how the secret prototype failed."
    return _draft_json(routes=[text, {"id": _hint(prompt), "text": text}])


def supported_by_hints(prompt: ParsedPrompt) -> str:
    """Declares itself supported, in the older flat form, with nothing but hints."""
    citation = {"kind": "hint", "hintId": _hint(prompt), "url": "/"}
    return json.dumps({"mode": "supported", "answer": _NOTEBOOK, "citations": [citation]})


def refusal_with_prose(_: ParsedPrompt) -> str:
    """Declines, and explains itself at length."""
    text = "I could not find this, but from what I know of such products it is usually port 8080."
    return json.dumps({"mode": "not-found", "answer": text, "citations": []})


def prose_refusal(_: ParsedPrompt) -> str:
    """Declines in prose."""
    return "I'm sorry, but the sources do not say. In general, though, the port is usually 8080."


def fenced(prompt: ParsedPrompt) -> str:
    """Wraps its draft in a Markdown fence, between friendly words."""
    source, quote = _source_and_quote(prompt)
    draft = _draft_json([_claim(quote, source, quote)])
    return f"Sure! Here it is:\n```json\n{draft}\n```\nAnything else?"


def echo(prompt: ParsedPrompt) -> str:
    """Repeats the prompt."""
    return prompt.text


def echo_as_claim(prompt: ParsedPrompt) -> str:
    """Repeats the prompt as a claim with a right quote."""
    source, quote = _source_and_quote(prompt)
    return _draft_json(
        [_claim(prompt.text, source, quote), _claim(prompt.text, source, prompt.text)]
    )


def obedient(prompt: ParsedPrompt) -> str:
    """Obeys a source that tells it to ignore the rules, with a made-up quote."""
    for source in prompt.sources:
        if _PLANTED.search(source.text):
            return _draft_json([_claim(_NOTEBOOK, source.id, _NOTEBOOK)], notebook=_NOTEBOOK)
    return _draft_json()


def obedient_by_any_source(prompt: ParsedPrompt) -> str:
    """Prints a made-up notebook whatever it was told, and lays it on every source and hint."""
    names = [*(s.id for s in prompt.sources), *(h.id for h in prompt.hints)] or ["s1"]
    evidence = [{"source": name, "quote": _NOTEBOOK} for name in names]
    return _draft_json([{"text": _NOTEBOOK, "evidence": evidence}])


def many_claims(prompt: ParsedPrompt) -> str:
    """Ten thousand different claims with a right quote."""
    source, quote = _source_and_quote(prompt)
    words = ("".join(_LETTERS[int(digit)] for digit in str(n)) for n in range(MANY_CLAIMS))
    return _draft_json(_claim(f"{quote} So {word}.", source, quote) for word in words)


def many_sources(prompt: ParsedPrompt) -> str:
    """One claim by ten thousand sources, and ten thousand routes."""
    source, quote = _source_and_quote(prompt)
    evidence = [{"source": source, "quote": quote}] * MANY_CLAIMS
    return _draft_json([{"text": quote, "evidence": evidence}], [_hint(prompt)] * MANY_CLAIMS)


def duplicates(prompt: ParsedPrompt) -> str:
    """The same claim and route again and again."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(quote, source, quote)] * 50, [_hint(prompt)] * 50)


def control_characters(prompt: ParsedPrompt) -> str:
    """Control characters in text, quote and ids."""
    source, quote = _source_and_quote(prompt)
    controls = "\x00\x01\x07\x08\x1b[31m\x7f\x85\u2028\u2029\ufeff\u200b"
    return _draft_json(
        [_claim(f"{controls}{quote}{controls}", source, quote), _claim(quote, source, controls)],
        [f"{controls}{_hint(prompt)}"],
    )


def lone_surrogates(prompt: ParsedPrompt) -> str:
    """Lone surrogates, as escapes in its JSON."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(f"\ud800{quote}\udfff", source, quote)], ["\udc00h1"])


def raw_surrogates(prompt: ParsedPrompt) -> str:
    """Lone surrogates, as such in the text that carries its JSON."""
    source, quote = _source_and_quote(prompt)
    draft = {"claims": [_claim(f"\ud800{quote}\udfff", source, quote)], "routes": []}
    return json.dumps(draft, ensure_ascii=False)


def right_to_left(prompt: ParsedPrompt) -> str:
    """Overrides and isolates that reorder what is read."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(f"\u202e{quote}\u2066\u200f", source, quote)])


def html(prompt: ParsedPrompt) -> str:
    """Markup that runs code where it is not escaped."""
    source, quote = _source_and_quote(prompt)
    text = f"<img src=x onerror=alert(1)><script>alert(1)</script></script><b>{quote}</b>"
    return _draft_json([_claim(text, source, quote), _claim(text, source, text)], [text])


def links(prompt: ParsedPrompt) -> str:
    """Links of its own, in Markdown, HTML and ids."""
    source, quote = _source_and_quote(prompt)
    text = f"{quote} [more](javascript:alert(document.domain)) <a href='javascript:1'>x</a>"
    target = "javascript:alert(document.domain)"
    return _draft_json([_claim(text, source, quote), _claim(quote, target, quote)], [target])


def foreign_quote(prompt: ParsedPrompt) -> str:
    """A quote that is in no source."""
    source, quote = _source_and_quote(prompt)
    return _draft_json(
        [_claim(quote, source, "It is known that this quote is nowhere in the sources.")]
    )


def shuffled_quote(prompt: ParsedPrompt) -> str:
    """A quote made of a source's words in another order."""
    source, quote = _source_and_quote(prompt)
    words = f"{quote} {quote}".split()
    return _draft_json([_claim(quote, source, " ".join(reversed(words)))])


def empty_quote(prompt: ParsedPrompt) -> str:
    """Quotes without a word in them."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(quote, source, blank) for blank in ("\u200b", "…", "**", "`")])


def wrong_numbers(prompt: ParsedPrompt) -> str:
    """Numbers, versions and code of its own beside a right quote."""
    source, quote = _source_and_quote(prompt)
    parts = ("987654", "v9.87.654", "`rm --everything`", "98.76 %")
    return _draft_json(_claim(f"{quote} The value is {part}.", source, quote) for part in parts)


def truncated_json(prompt: ParsedPrompt) -> str:
    """JSON that ends in the middle of a quote."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim(quote, source, quote)])[:-12]


def wrong_types(prompt: ParsedPrompt) -> str:
    """Every type but the right one, everywhere."""
    source, quote = _source_and_quote(prompt)
    odd: list[object] = [None, True, 0, -1.5, "", "text", [], [[]], {}, {"text": 1}]
    claims = [
        *odd,
        *(_claim(value, source, quote) for value in odd),
        *(_claim(quote, value, quote) for value in odd),
        *(_claim(quote, source, value) for value in odd),
        *({"text": quote, "evidence": value} for value in odd),
    ]
    return _draft_json(claims, odd)


def lists_of_wrong_type(_: ParsedPrompt) -> str:
    """Objects and texts where lists belong."""
    return json.dumps({"claims": {"text": "a"}, "routes": "h1"})


def extra_fields(prompt: ParsedPrompt) -> str:
    """A right claim among fields that nobody asked for."""
    source, quote = _source_and_quote(prompt)
    claim = {**_claim(quote, source, quote), "url": "https://evil.example/", "note": _NOTEBOOK}
    return _draft_json(
        [claim], answer=_NOTEBOOK, mode="supported", citations=[{"n": 1}], text=_NOTEBOOK
    )


def duplicate_keys(prompt: ParsedPrompt) -> str:
    """One key twice: a right claim, then another."""
    source, quote = _source_and_quote(prompt)
    right, wrong = _claim(quote, source, quote), _claim(_NOTEBOOK, source, _NOTEBOOK)
    return f'{{"claims": {json.dumps([right])}, "claims": {json.dumps([wrong])}, "routes": []}}'


def long_text(prompt: ParsedPrompt) -> str:
    """A claim of a million characters."""
    source, quote = _source_and_quote(prompt)
    return _draft_json([_claim("so " * (LONG_TEXT_CHARACTERS // 3), source, quote)])


def long_quote(prompt: ParsedPrompt) -> str:
    """A quote of a million characters."""
    source, quote = _source_and_quote(prompt)
    return _draft_json(
        [_claim(quote, source, f"{quote} " * (LONG_TEXT_CHARACTERS // (len(quote) + 1)))]
    )


def deep_json(_: ParsedPrompt) -> str:
    """JSON that is nested deeper than a parser goes."""
    return '{"claims": ' + "[" * 100_000


def endless_number(_: ParsedPrompt) -> str:
    """JSON with a number of more digits than Python converts."""
    return '{"claims": [], "routes": [], "n": ' + "9" * 10_000 + "}"


def not_a_number(_: ParsedPrompt) -> str:
    """Values that JSON has no words for."""
    return '{"claims": [NaN], "routes": [Infinity]}'


def null(_: ParsedPrompt) -> str:
    """Nothing, in JSON."""
    return "null"


def a_list(prompt: ParsedPrompt) -> str:
    """A list of claims without the object around it."""
    source, quote = _source_and_quote(prompt)
    return json.dumps([_claim(quote, source, quote)])


def silent(_: ParsedPrompt) -> str:
    """Not a character."""
    return ""


def _models_by_name(models: Iterable[ScriptedModel]) -> Mapping[str, ScriptedModel]:
    return {f"hostile-{model.__name__.strip('_').replace('_', '-')}": model for model in models}


# Every hostile model by its name, such as ``hostile-invented-id``.
HOSTILE_MODELS = _models_by_name(
    [
        invented_id, mangled_ids, mangled_urls, swapped_kinds, no_evidence, missing_evidence,
        hint_prose, hint_prose_as_route, supported_by_hints, refusal_with_prose, prose_refusal,
        fenced, echo, echo_as_claim, obedient, obedient_by_any_source, many_claims, many_sources,
        duplicates, control_characters, lone_surrogates, raw_surrogates, right_to_left, html, links,
        foreign_quote, shuffled_quote, empty_quote, wrong_numbers, truncated_json, wrong_types,
        lists_of_wrong_type, extra_fields, duplicate_keys, long_text, long_quote, deep_json,
        endless_number, not_a_number, null, a_list, silent,
    ]
)  # fmt: skip
