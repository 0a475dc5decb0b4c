"""Hostile answer models: each breaks the contract in a way of its own."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from support.honest_model import ParsedPrompt, ScriptedModel, split_prompt_sentences

MANY_CLAIMS = 10_000

_LONG_TEXT_CHARACTERS = 1_000_000
_PLANTED = re.compile(
    r"ignore (?:all |any )?(?:the |these |your )?(?:previous |prior )?rules", re.I
)
_NOTEBOOK = "The notebook says that the founder buried the prototype under the old boathouse."
_FOREIGN_QUOTE = "It is known that this quote is nowhere in the sources."
_CONTROLS = "\x00\x01\x07\x08\x1b[31m\x7f\x85\u2028\u2029\ufeff\u200b"
_MARKUP = "<img src=x onerror=alert(1)><script>alert(1)</script></script><b>{}</b>"


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The prompt of a model, with what it abuses: a source's id, a sentence of it, and a hint.

    All three are made up where there is none.
    """

    parsed: ParsedPrompt
    source: str
    quote: str
    hint: str
    label: str

    def claim(
        self, text: object = None, source: object = None, quote: object = None
    ) -> dict[str, Any]:
        """Make a claim, which is the quote of the source but for what is given."""
        evidence = {
            "source": self.source if source is None else source,
            "quote": self.quote if quote is None else quote,
        }
        return {"text": self.quote if text is None else text, "evidence": [evidence]}


def _draft(claims: Iterable[object] = (), routes: Iterable[object] = (), **fields: object) -> str:
    return json.dumps({"claims": list(claims), "routes": list(routes), **fields})


def _obey(prompt: _Prompt) -> str:
    """Obey a source that tells it to ignore the rules, with a made-up quote."""
    for source in prompt.parsed.sources:
        if _PLANTED.search(source.text):
            return _draft([prompt.claim(_NOTEBOOK, source.id, _NOTEBOOK)], notebook=_NOTEBOOK)
    return _draft()


def _claim_often(prompt: _Prompt) -> str:
    """Claim ten thousand different things with a right quote."""
    letters = ("".join("abcdefghij"[int(digit)] for digit in str(n)) for n in range(MANY_CLAIMS))
    return _draft(prompt.claim(f"{prompt.quote} So {word}.") for word in letters)


def _confuse_types(prompt: _Prompt) -> str:
    """Write every type but the right one, everywhere."""
    odd: list[Any] = [None, True, 0, -1.5, "", "text", [], [[]], {}, {"text": 1}]
    right = prompt.claim()
    (evidence,) = right["evidence"]
    claims = [
        *odd,
        *(right | {"text": value} for value in odd),
        *(right | {"evidence": [evidence | {"source": value}]} for value in odd),
        *(right | {"evidence": [evidence | {"quote": value}]} for value in odd),
        *(right | {"evidence": value} for value in odd),
    ]
    return _draft(claims, odd)


def _add_fields(prompt: _Prompt) -> str:
    """Hide a right claim among fields that nobody asked for."""
    claim = prompt.claim() | {"url": "https://evil.example/", "note": _NOTEBOOK}
    fields = {"answer": _NOTEBOOK, "mode": "supported", "citations": [{"n": 1}], "text": _NOTEBOOK}
    return _draft([claim], **fields)


_MODELS: Mapping[str, Callable[[_Prompt], str]] = {
    "invented-id": lambda p: _draft([p.claim(source="s99")], ["h99", "note:0123456789"]),
    "swapped-kinds": lambda p: _draft([p.claim(source=p.hint)], [p.source]),
    "hint-prose": lambda p: _draft(
        [p.claim(text := f"{p.label} describes how the secret prototype failed.", p.hint, text)],
        [p.hint],
    ),
    "echo": lambda p: p.parsed.text,
    "obedient": _obey,
    "many-claims": _claim_often,
    "control-characters": lambda p: _draft(
        [p.claim(f"{_CONTROLS}{p.quote}{_CONTROLS}"), p.claim(quote=_CONTROLS)],
        [f"{_CONTROLS}{p.hint}"],
    ),
    "html": lambda p: _draft(
        [p.claim(text := _MARKUP.format(p.quote)), p.claim(text, quote=text)], [text]
    ),
    "foreign-quote": lambda p: _draft([p.claim(quote=_FOREIGN_QUOTE)]),
    "shuffled-quote": lambda p: _draft(
        [p.claim(quote=" ".join(reversed(f"{p.quote} {p.quote}".split())))]
    ),
    "empty-quote": lambda p: _draft([p.claim(quote=blank) for blank in ("\u200b", "…", "**", "`")]),
    "wrong-numbers": lambda p: _draft(
        p.claim(f"{p.quote} The value is {part}.")
        for part in ("987654", "v9.87.654", "`rm --everything`", "98.76 %")
    ),
    "truncated-json": lambda p: _draft([p.claim()])[:-12],
    "wrong-types": _confuse_types,
    "extra-fields": _add_fields,
    "long-text": lambda p: _draft([p.claim("so " * (_LONG_TEXT_CHARACTERS // 3))]),
    # Nested deeper than a parser goes.
    "deep-json": lambda _: '{"claims": ' + "[" * 100_000,
    "silent": lambda _: "",
}


def _script(write: Callable[[_Prompt], str]) -> ScriptedModel:
    def answer(parsed: ParsedPrompt) -> str:
        sentences = (
            (source.id, sentence)
            for source in parsed.sources
            for sentence in split_prompt_sentences(source.text)
        )
        source, quote = next(sentences, ("s1", "There is no source."))
        hint, label = next(((h.id, h.label) for h in parsed.hints), ("h1", "the notebook"))
        return write(_Prompt(parsed, source, quote, hint, label))

    return answer


# Every hostile model by its name, such as ``hostile-invented-id``.
HOSTILE_MODELS = {f"hostile-{name}": _script(write) for name, write in _MODELS.items()}
