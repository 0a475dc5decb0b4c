"""Options of the plugin: types, defaults, unknown names and what they exclude."""

import os
import re
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import quote, urlsplit

from mkdocs.config import base
from mkdocs.config import config_options as c
from mkdocs.config.defaults import MkDocsConfig

from ..engine.embedders import local_embedder
from ..engine.errors import SiteError
from ..engine.index.manifest import Profile
from ..engine.providers import BUILTIN, Kind, check_database_url, list_providers
from ..engine.settings import (
    ANSWER_APIS,
    LOG_REFUSALS_CHOICES,
    MAX_EVIDENCE_CHARACTERS,
    MAX_OUTPUT_TOKENS,
    FunctionSettings,
)
from ..engine.text.tokenization import base_language, is_language_tag
from ..engine.text.urls import is_safe_url
from ..engine.vectors import EmbedderIdentity
from ..indexing.answer_place import ANSWER_PLACES
from ..indexing.answers import ANSWERS_SUFFIX
from ..indexing.build import choose_embedder_profile
from ..indexing.pages.page_index import CuttingRules, read_abbreviations, read_enrichment
from ..indexing.pages.passages import PassageWindow
from ..indexing.questions import SectionQuestions, read_questions
from ..indexing.stems import ALGORITHMS
from ..postgres.options import DEFAULT_STORE_NAME, SEARCH_METHODS

DEFAULT_SHORTCUT = "Ctrl+I"
NO_SHORTCUT = "none"

_MODIFIERS = ("Ctrl", "Alt", "Shift")
_SHORTCUT_KEY = re.compile(r"[!-~]|F(?:[1-9]|1[0-2])")


def parse_shortcut(text: str) -> str:
    """Normalize a keyboard shortcut to ``Ctrl+Alt+Shift+K`` in this order, or ``none``.

    SiteError for one without Ctrl or Alt, which would take a letter from readers who type, or from
    a theme.
    """
    if text.strip().lower() == NO_SHORTCUT:
        return NO_SHORTCUT
    *before, key = (part.strip() for part in text.split("+"))
    modifiers = [part.capitalize() for part in before]
    if (
        not {"Ctrl", "Alt"} & set(modifiers)
        or len(set(modifiers)) < len(modifiers)
        or not set(modifiers) <= set(_MODIFIERS)
        or not _SHORTCUT_KEY.fullmatch(key.upper())
    ):
        raise SiteError(
            f"widget.shortcut: {text!r} has to be Ctrl, Alt or both, Shift if you like, and one "
            f"key, such as {DEFAULT_SHORTCUT} or Alt+Shift+K; correct it, or write {NO_SHORTCUT}"
        )
    return "+".join([*(name for name in _MODIFIERS if name in modifiers), key.upper()])


class ProviderOption(c.Choice[str]):
    """The name of a provider that is built in, or that an installed package registers."""

    def __init__(self, kind: Kind, default: str) -> None:
        super().__init__(tuple(BUILTIN[kind]), default=default)
        self.kind = kind

    def run_validation(self, value: object) -> str:
        # What is registered is looked up only for a name that is not built in.
        self.choices = tuple(BUILTIN[self.kind])
        if value not in self.choices:
            self.choices = list_providers(self.kind)
        return super().run_validation(value)


class OptionGroup(base.Config):
    """Options that remember which of them were ``written``, even without a value."""

    written: Collection[str] = ()

    def load_dict(self, patch: dict[str, Any]) -> None:
        self.written = frozenset(patch)
        super().load_dict(patch)


class PassageOptions(base.Config):
    """How pages are cut into passages: ``passages``."""

    words = c.Type(int, default=240)


class RetrievalOptions(base.Config):
    """What counts as evidence, and which pages come first: ``retrieval``."""

    floor = c.Optional(c.Type((int, float)))
    note_floor = c.Optional(c.Type((int, float)))
    call_floor = c.Optional(c.Type((int, float)))
    weights = c.DictOfItems(c.Type((int, float)), default={})


class EmbeddingOptions(OptionGroup):
    """The embedder: ``embedding``."""

    provider = ProviderOption("embedder", default="local")
    model = c.Type(str, default="text-embedding-3-large")
    dimensions = c.Type(int, default=3072)
    base_url = c.Optional(c.URL())


class AnswerOptions(base.Config):
    """The answerer: ``answers``."""

    provider = ProviderOption("answerer", default="extractive")
    model = c.Type(str, default="gpt-4o-mini")
    base_url = c.Optional(c.URL())
    reasoning_effort = c.Optional(c.Type(str))
    api = c.Choice(ANSWER_APIS, default="auto")
    timeout = c.Type((int, float), default=30)
    max_evidence_characters = c.Type(int, default=MAX_EVIDENCE_CHARACTERS)
    max_output_tokens = c.Type(int, default=MAX_OUTPUT_TOKENS)


class BundleOptions(base.Config):
    """What is kept of vectors: ``bundle``."""

    dimensions = c.Optional(c.Type(int))


class StoreOptions(OptionGroup):
    """The database that serves the site instead of the bundle's folder: ``store``."""

    url = c.Optional(c.Type(str))
    name = c.Type(str, default=DEFAULT_STORE_NAME)
    search = c.Choice(SEARCH_METHODS, default="exact")


class WidgetOptions(base.Config):
    """The ask box: ``widget``."""

    placement = c.Optional(c.Choice(("button", "header", "inline", "none")))
    endpoint = c.Optional(c.Type(str))
    shortcut = c.Type(str, default=DEFAULT_SHORTCUT)
    examples = c.Optional(c.ListOfItems(c.Type(str)))
    search = c.Optional(c.Type((str, bool)))
    authors = c.Optional(c.Type((str, bool)))
    feedback = c.Optional(c.Type((str, bool)))


class AnswerableConfig(OptionGroup):
    """All options of the plugin ``answerable``."""

    notebook = c.Optional(c.Dir(exists=True))
    contact = c.Optional(c.Type(str))
    function = c.Dir(default="function")
    cache = c.Dir(default=".cache/plugin/answerable")
    language = c.Optional(c.Type(str))
    aliases = c.ListOfItems(c.Type(str), default=[])
    abbreviations = c.Optional(c.File(exists=True))
    enrichment = c.Optional(c.File(exists=True))
    embedding = c.SubConfig(EmbeddingOptions)
    answers = c.SubConfig(AnswerOptions)
    passages = c.SubConfig(PassageOptions)
    retrieval = c.SubConfig(RetrievalOptions)
    bundle = c.SubConfig(BundleOptions)
    store = c.SubConfig(StoreOptions)
    gold = c.File(default="eval/gold.yaml")
    questions = c.File(default="eval/questions.jsonl")
    gate = c.Type(bool, default=False)
    answers_in = c.Optional(c.Choice(ANSWER_PLACES))
    offline = c.Optional(c.Type(bool))
    widget = c.SubConfig(WidgetOptions)
    log_refusals = c.Choice(LOG_REFUSALS_CHOICES, default="none")


# The least and the greatest value of each option that is a number and may be left out.
_RANGES = {
    "passages.words": (40, 2000),
    "embedding.dimensions": (1, 16_384),
    "answers.timeout": (1, 600),
    "answers.max_evidence_characters": (2_000, 200_000),
    "answers.max_output_tokens": (100, 32_000),
    "retrieval.floor": (0, 1),
    "retrieval.note_floor": (0, 1),
    "retrieval.call_floor": (0, 1),
}
_STORE_NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
# What MkDocs and ProperDocs call the folders that they serve.
_PREVIEW_PREFIXES = ("mkdocs_", "properdocs_")


def check_options(config: AnswerableConfig) -> None:
    """Refuse an option out of its range; SiteError names it and the range."""
    for option, (least, greatest) in _RANGES.items():
        group, name = option.split(".")
        _check_range(option, config[group][name], least, greatest)
    _check_range(
        "bundle.dimensions", config.bundle.dimensions, 1, resolve_identity(config).dimensions
    )
    for pattern, weight in config.retrieval.weights.items():
        _check_range(f"retrieval.weights: {pattern}", weight, 0, 10)
    if config.embedding.provider not in BUILTIN["embedder"]:
        names = ("model", "dimensions")
        if missing := [name for name in names if name not in config.embedding.written]:
            raise SiteError(
                f"embedding.provider: {config.embedding.provider} needs "
                f"{' and '.join(f'embedding.{name}' for name in missing)} beside it, since the "
                "defaults are OpenAI's; add what is missing"
            )
    if config.store.url:
        check_database_url(config.store.url, "store.url")
    if not _STORE_NAME.fullmatch(config.store.name):
        raise SiteError(
            f"store.name: {config.store.name!r:.80} is not a valid name; write one such as docs"
        )
    language = config.language
    # No language has a longer code, so `english` is a mistake.
    if language and not (is_language_tag(language) and len(base_language(language)) <= 3):
        raise SiteError(
            f"language: {language!r} is not the code of a language, such as en or pt-BR; the forms "
            f"of words are known for {', '.join(sorted(ALGORITHMS))}, and in every other language "
            "a word is matched as it is written"
        )
    endpoint = config.widget.endpoint
    if endpoint is not None and not is_safe_url(_fill_endpoint(endpoint, "x")):
        raise SiteError(
            f"widget.endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )


def resolve_identity(config: AnswerableConfig) -> EmbedderIdentity:
    """Resolve the identity of the embedder that the options name."""
    embedding = config.embedding
    if embedding.provider == "local":
        return local_embedder.LOCAL_IDENTITY
    return EmbedderIdentity(embedding.provider, embedding.model, embedding.dimensions)


def resolve_profile(config: AnswerableConfig, windows: int) -> Profile:
    """Resolve the scoring profile: the embedder's, with the options that are set.

    windows: how many windows of notes the index holds.
    """
    values = {name: config.retrieval[name] for name in ("floor", "note_floor", "call_floor")}
    written = {name: value for name, value in values.items() if value is not None}
    profile = replace(choose_embedder_profile(config.embedding.provider, windows), **written)
    # What is evidence without a model is no less evidence with one.
    return replace(profile, call_floor=min(profile.call_floor, profile.floor))


def resolve_dimensions(config: AnswerableConfig) -> int:
    """Resolve how many leading dimensions of vectors are kept: all where no number is set."""
    return config.bundle.dimensions or resolve_identity(config).dimensions


def resolve_answers_path(config: AnswerableConfig) -> Path:
    """Resolve the path of the file of answers, which need not exist, beside the questions."""
    return Path(config.questions).with_suffix(ANSWERS_SUFFIX)


def list_input_files(config: AnswerableConfig) -> list[Path]:
    """List what an index is made from beside the pages: files and folders that need not exist."""
    names = ("notebook", "enrichment", "abbreviations", "gold", "questions")
    return [*(Path(config[name]) for name in names if config[name]), resolve_answers_path(config)]


def read_known_questions(config: AnswerableConfig) -> dict[str, SectionQuestions]:
    """Read the file of questions by section, {} without a file."""
    path = Path(config.questions)
    return read_questions(path) if path.is_file() else {}


def read_cutting_rules(config: AnswerableConfig) -> CuttingRules:
    """Read the rules by which pages are cut into passages, and the files that they name."""
    abbreviations, enrichment = config.abbreviations, config.enrichment
    return CuttingRules(
        window=PassageWindow(config.passages.words),
        abbreviations=read_abbreviations(Path(abbreviations)) if abbreviations else {},
        enrichment=read_enrichment(Path(enrichment)) if enrichment else {},
    )


def resolve_endpoint(config: AnswerableConfig) -> str | None:
    """Resolve the endpoint of the widget in a published page."""
    template = config.widget.endpoint
    return None if template is None else _fill_endpoint(template, read_mike_version() or "")


def is_absolute_endpoint(endpoint: str | None) -> TypeGuard[str]:
    """True if an endpoint names a host, so that pages of another one may ask it."""
    return endpoint is not None and "//" in endpoint


def resolve_settings(config: AnswerableConfig) -> FunctionSettings:
    """Resolve the settings of the function."""
    answers = config.answers
    return FunctionSettings(
        answers=answers.provider,
        model=answers.model,
        base_url=answers.base_url or None,
        reasoning_effort=answers.reasoning_effort,
        timeout=float(answers.timeout),
        api=answers.api,
        max_evidence_characters=answers.max_evidence_characters,
        max_output_tokens=answers.max_output_tokens,
        embedding_base_url=config.embedding.base_url or None,
        log_refusals=config.log_refusals,
    )


def is_preview_build(config: MkDocsConfig, command: str) -> bool:
    """True if a build is one of `mkdocs serve`. command: as MkDocs reports it.

    `serve --clean` reports `build`. A published build may go into a folder of any name, so it is
    a preview only where its site's url is that of the dev server, too.
    """
    folder = Path(config.site_dir)
    is_temporary = folder.parent == Path(tempfile.gettempdir())
    host, port = config.dev_addr
    is_local = (config.site_url or "").startswith(f"http://{host}:{port}/")
    return command == "serve" or (
        is_temporary and is_local and folder.name.startswith(_PREVIEW_PREFIXES)
    )


def is_offline_build(config: MkDocsConfig, options: AnswerableConfig) -> bool:
    """True if pages answer from a disk too; without the option, Material's plugin decides."""
    plugins = (config.plugins.get(name) for name in ("offline", "material/offline"))
    is_seen = any(plugin and plugin.config.get("enabled") for plugin in plugins)
    return is_seen if options.offline is None else options.offline


def read_mike_version() -> str | None:
    """Read the version that is being built; None in a build that mike has not started."""
    return os.environ.get("MIKE_DOCS_VERSION") or None


def resolve_site_url(config: MkDocsConfig) -> str | None:
    """Resolve the address that this build will be served at.

    With a `canonical_version`, mike gives every build that version's address instead of its own.
    """
    url, version = config.site_url or None, read_mike_version()
    mike = config.plugins.get("mike")
    canonical = mike.config.get("canonical_version") if mike and version else None
    if url and version and canonical:
        return url.rstrip("/").removesuffix(str(canonical)) + quote(version)
    return url


def resolve_site_path(config: MkDocsConfig) -> str:
    """Resolve the path that the site is served under, with a slash at both ends."""
    url = resolve_site_url(config) or "/"
    path = quote(urlsplit(url).path.strip("/"), safe="/%:@!$&'()*+,;=~")
    return f"/{path}/" if path else "/"


def _fill_endpoint(template: str, version: str) -> str:
    if not version:
        # A build that mike has not started has no version, and no folder for it.
        template = template.replace("{version}/", "")
    return template.replace("{version}", version)


def _check_range(name: str, value: float | None, least: float, greatest: float) -> None:
    if value is not None and (isinstance(value, bool) or not least <= value <= greatest):
        raise SiteError(f"{name}: {value} is not between {least} and {greatest}")


def list_option_names(options: type[base.Config], prefix: str = "") -> Iterator[str]:
    """List the options of a class with those of its groups, such as ``widget.endpoint``."""
    for name, option in vars(options).items():
        if isinstance(option, c.SubConfig) and isinstance(option.config_class, type):
            yield from list_option_names(option.config_class, f"{prefix}{name}.")
        elif isinstance(option, base.BaseConfigOption):
            yield f"{prefix}{name}"


_UNKNOWN = "Unrecognised configuration name: "
_SUB_OPTION = re.compile(r"Sub-option '([^']*)': ")


def explain_unknown_option(key: str, warning: str) -> tuple[str, bool]:
    """Add to MkDocs' warning of an unknown option the one that it may mean, or all that there are.

    key: the option of the plugin that the warning is about, as MkDocs names it. Also returns
    whether it is an error: a site whose `notebook` is misspelled would be built without an audit.
    """
    place, is_unknown, name = warning.partition(_UNKNOWN)
    if not is_unknown:
        return warning, False
    names = list(list_option_names(AnswerableConfig))
    group = "".join(f"{part}." for part in [key, *_SUB_OPTION.findall(place)][:-1])
    if nearest := _find_nearest_options(name, names):
        nearest = [other for other in nearest if other.startswith(group)] or nearest
        return f"{warning}. Did you mean {' or '.join(nearest)}?", nearest == ["notebook"]
    siblings = dict.fromkeys(n if group else n.partition(".")[0] for n in names)
    listed = ", ".join(sibling for sibling in siblings if sibling.startswith(group))
    return f"{warning}. The options there are {listed}.", False


def _find_nearest_options(unknown: str, names: list[str]) -> list[str]:
    """Find the options or groups that an unknown one may mean, those of its very name first."""
    by_last: dict[str, list[str]] = {name.partition(".")[0]: [] for name in names}
    for name in names:
        by_last.setdefault(name.rpartition(".")[2], []).append(name)
    # A distant resemblance is enough: no other mistake costs as much as a lost notebook.
    for last in [unknown] if unknown in by_last else get_close_matches(unknown.lower(), by_last, 1):
        return by_last[last] or [last]
    return []
