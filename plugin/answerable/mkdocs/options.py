"""Options of the plugin: types, defaults, unknown names and what they exclude."""

import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, urlsplit

from mkdocs.config import base
from mkdocs.config import config_options as c
from mkdocs.config.defaults import MkDocsConfig

from ..indexing.answer_place import ANSWER_PLACES
from ..indexing.answers import ANSWERS_SUFFIX
from ..indexing.index import choose_embedder_profile
from ..indexing.pages.page_index import CuttingRules, read_abbreviations, read_enrichment
from ..indexing.pages.passages import PassageWindow
from ..indexing.questions import SectionQuestions, read_questions
from ..postgres.options import DEFAULT_STORE_NAME, SEARCH_METHODS, VectorSearch, check_database_url
from ..serve.answers.wire import ROUTE_FIELDS, list_template_fields
from ..serve.bundle_format.manifest import Profile
from ..serve.embedders import local_embedder
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.errors import SiteError
from ..serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS, ProviderRegistry
from ..serve.retrieval.retrieve import TOP_K
from ..serve.settings import (
    ANSWER_APIS,
    LOG_REFUSALS_CHOICES,
    MAX_EVIDENCE_CHARACTERS,
    MAX_OUTPUT_TOKENS,
    FunctionSettings,
)
from ..serve.structure import is_safe_url
from ..serve.text.languages import is_language_tag

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
    """Choose a provider that is built in, or that an installed package registers."""

    def __init__(self, registry: ProviderRegistry, default: str) -> None:
        super().__init__(tuple(registry.builtin), default=default)
        self.registry = registry

    def run_validation(self, value: object) -> str:
        # What is registered is looked up only for a name that is not built in.
        self.choices = tuple(self.registry.builtin)
        if value not in self.choices:
            self.choices = tuple(self.registry)
        return super().run_validation(value)


class PassageOptions(base.Config):
    """Configure how pages are cut into passages: ``passages``."""

    words = c.Type(int, default=240)
    overlap = c.Type((int, float), default=0.25)


class RetrievalOptions(base.Config):
    """Configure how candidates are scored: ``retrieval``."""

    floor = c.Optional(c.Type((int, float)))
    note_floor = c.Optional(c.Type((int, float)))
    call_floor = c.Optional(c.Type((int, float)))
    hybrid = c.Optional(c.Type((int, float)))
    theme_fade = c.Optional(c.Type(bool))
    name_boost = c.Optional(c.Type((int, float)))
    theme_boost = c.Optional(c.Type((int, float)))
    recency = c.Optional(c.Type((int, float)))
    passages_per_page = c.Optional(c.Type(int))
    weights = c.DictOfItems(c.Type((int, float)), default={})


class EmbeddingOptions(base.Config):
    """Configure the embedder: ``embedding``."""

    provider = ProviderOption(EMBEDDER_PROVIDERS, default="local")
    model = c.Type(str, default="text-embedding-3-large")
    dimensions = c.Type(int, default=3072)
    send_dimensions = c.Optional(c.Type(bool))
    batch_size = c.Type(int, default=2048)
    base_url = c.Optional(c.URL())


class AnswerOptions(base.Config):
    """Configure the answerer: ``answers``."""

    provider = ProviderOption(ANSWERER_PROVIDERS, default="extractive")
    model = c.Type(str, default="gpt-4o-mini")
    base_url = c.Optional(c.URL())
    reasoning_effort = c.Optional(c.Type(str))
    api = c.Choice(ANSWER_APIS, default="auto")
    timeout = c.Type((int, float), default=30)
    max_evidence_characters = c.Type(int, default=MAX_EVIDENCE_CHARACTERS)
    max_output_tokens = c.Type(int, default=MAX_OUTPUT_TOKENS)
    route = c.Optional(c.Type(str))


class BundleOptions(base.Config):
    """Configure what is kept of vectors: ``bundle``."""

    dimensions = c.Optional(c.Type(int))


class AddressOption(base.BaseConfigOption[str | None]):
    """Read an address: "" where none is set, None where its environment variable is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.default = ""

    def run_validation(self, value: object) -> str | None:
        if value is not None and not isinstance(value, str):
            raise base.ValidationError(f"Expected an address, not {type(value).__name__}")
        return value


class StoreOptions(base.Config):
    """Configure the database that serves the site instead of the bundle's folder: ``store``."""

    url = AddressOption()
    name = c.Type(str, default=DEFAULT_STORE_NAME)
    search = c.Choice(SEARCH_METHODS, default="exact")
    m = c.Type(int, default=16)
    ef_construction = c.Type(int, default=64)
    ef_search = c.Type(int, default=400)
    grace = c.Type((int, float), default=24)


class WidgetOptions(base.Config):
    """Configure the ask box: ``widget``."""

    placement = c.Optional(c.Choice(("button", "header", "inline", "none")))
    endpoint = c.Optional(c.Type(str))
    shortcut = c.Type(str, default=DEFAULT_SHORTCUT)
    examples = c.Optional(c.ListOfItems(c.Type(str)))
    search = c.Optional(c.Type((str, bool)))
    authors = c.Optional(c.Type((str, bool)))
    feedback = c.Optional(c.Type((str, bool)))
    search_row = c.Type(bool, default=True)


class AnswerableConfig(base.Config):
    """Configure the plugin: all options of ``answerable``."""

    notebook = c.Optional(c.Dir(exists=True))
    function = c.Dir(default="function")
    cache = c.Dir(default=".cache/plugin/answerable")
    language = c.Optional(c.Type(str))
    languages = c.Choice(("together", "apart"), default="together")
    aliases = c.ListOfItems(c.Type(str), default=[])
    abbreviations = c.Optional(c.File(exists=True))
    enrichment = c.Optional(c.File(exists=True))
    embedding = c.SubConfig(EmbeddingOptions)
    answers = c.SubConfig(AnswerOptions)
    passages = c.SubConfig(PassageOptions)
    retrieval = c.SubConfig(RetrievalOptions)
    bundle = c.SubConfig(BundleOptions)
    store = c.SubConfig(StoreOptions)
    gold = c.Type(str, default="eval/gold.yaml")
    questions = c.Type(str, default="eval/questions.jsonl")
    gate = c.Type(bool, default=False)
    answers_in = c.Optional(c.Choice(ANSWER_PLACES))
    offline = c.Optional(c.Type(bool))
    widget = c.SubConfig(WidgetOptions)
    log_refusals = c.Choice(LOG_REFUSALS_CHOICES, default="none")
    log_questions = c.Type(bool, default=False)


# The numeric options of `retrieval` with their greatest values.
_RETRIEVAL_MAXIMA = (
    ("floor", 1), ("note_floor", 1), ("call_floor", 1), ("hybrid", 10),
    ("name_boost", 1), ("theme_boost", 1), ("recency", 1),
)  # fmt: skip
_PROFILE_OPTIONS = (*(name for name, _ in _RETRIEVAL_MAXIMA), "theme_fade", "passages_per_page")
_STORE_NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)
# What MkDocs and ProperDocs call the folders that they serve.
_PREVIEW_PREFIXES = ("mkdocs_", "properdocs_")


def check_options(config: AnswerableConfig) -> None:
    """Refuse an option out of its range; SiteError names it and the range."""
    _check_range("passages.words", config.passages.words, 40, 2000)
    _check_range("passages.overlap", config.passages.overlap, 0, 0.5)
    embedding = config.embedding
    if embedding.provider not in EMBEDDER_PROVIDERS.builtin:
        written = {name for options in embedding.user_configs for name in options}
        if missing := [name for name in ("model", "dimensions") if name not in written]:
            raise SiteError(
                f"embedding.provider: {embedding.provider} needs "
                f"{' and '.join(f'embedding.{name}' for name in missing)} beside it, since the "
                "defaults are OpenAI's; add what is missing"
            )
    _check_range("embedding.dimensions", config.embedding.dimensions, 1, 16_384)
    _check_range("embedding.batch_size", config.embedding.batch_size, 1, 2048)
    if config.bundle.dimensions is not None:
        _check_range(
            "bundle.dimensions", config.bundle.dimensions, 1, resolve_identity(config).dimensions
        )
    answers = config.answers
    _check_range("answers.timeout", answers.timeout, 1, 600)
    characters = answers.max_evidence_characters
    _check_range("answers.max_evidence_characters", characters, 2_000, 200_000)
    _check_range("answers.max_output_tokens", answers.max_output_tokens, 100, 32_000)
    for name, maximum in _RETRIEVAL_MAXIMA:
        if config.retrieval[name] is not None:
            _check_range(f"retrieval.{name}", config.retrieval[name], 0, maximum)
    if config.retrieval.passages_per_page is not None:
        _check_range("retrieval.passages_per_page", config.retrieval.passages_per_page, 1, TOP_K)
    for pattern, weight in config.retrieval.weights.items():
        _check_range(f"retrieval.weights: {pattern}", weight, 0, 10)
    _check_store(config)
    language = config.language
    if language is not None and not is_language_tag(language):
        raise SiteError(
            f"language: {language!r} is not a language tag; write one such as en or pt-BR"
        )
    route = answers.route
    if route is not None and not {"label"} <= list_template_fields(route) <= ROUTE_FIELDS:
        raise SiteError(
            f"answers.route: {route!r} has to hold {{label}}, and may hold {{locator}}, {{where}} "
            "and {url}"
        )
    endpoint = config.widget.endpoint
    if endpoint is not None and not is_safe_url(_fill_endpoint(endpoint, "x", "x")):
        raise SiteError(
            f"widget.endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )


def _check_store(config: AnswerableConfig) -> None:
    store = config.store
    if store.url:
        check_database_url(store.url, "store.url")
    if not _STORE_NAME.fullmatch(store.name):
        raise SiteError(
            f"store.name: {store.name!r:.80} is not a valid name; write one such as docs"
        )
    _check_range("store.grace", store.grace, 0, 10_000)
    try:
        resolve_search(config)
    except ValueError as error:
        raise SiteError(f"store.{error}; correct it") from None


def resolve_search(config: AnswerableConfig) -> VectorSearch:
    """Resolve how a database searches vectors; ValueError for an option out of its range."""
    store = config.store
    return VectorSearch(store.search, store.m, store.ef_construction, store.ef_search)


def resolve_identity(config: AnswerableConfig) -> EmbedderIdentity:
    """Resolve the identity of the embedder that the options name."""
    embedding = config.embedding
    if embedding.provider == "local":
        return local_embedder.LOCAL_IDENTITY
    return EmbedderIdentity(embedding.provider, embedding.model, embedding.dimensions)


def resolve_profile(config: AnswerableConfig, windows: int) -> Profile:
    """Resolve the scoring profile: the embedder's, with the options that are set.

    windows: of notes, that the index holds.
    """
    profile = choose_embedder_profile(config.embedding.provider, windows)
    values = {name: config.retrieval[name] for name in _PROFILE_OPTIONS}
    profile = replace(
        profile, **{name: value for name, value in values.items() if value is not None}
    )
    # What is evidence without a model is no less evidence with one.
    return replace(profile, call_floor=min(profile.call_floor, profile.floor))


def resolve_dimensions(config: AnswerableConfig) -> int:
    """Resolve how many leading dimensions of vectors are kept: all where no number is set."""
    return config.bundle.dimensions or resolve_identity(config).dimensions


def resolve_gold_path(config: AnswerableConfig) -> Path:
    """Resolve the path of the gold set, which need not exist."""
    return Path(config.config_file_path).parent / config.gold


def resolve_questions_path(config: AnswerableConfig) -> Path:
    """Resolve the path of the file of questions, which need not exist."""
    return Path(config.config_file_path).parent / config.questions


def resolve_answers_path(config: AnswerableConfig) -> Path:
    """Resolve the path of the file of answers, which need not exist, beside the questions."""
    return resolve_questions_path(config).with_suffix(ANSWERS_SUFFIX)


def list_input_files(config: AnswerableConfig) -> list[Path]:
    """List what an index is made from beside the pages: files and folders that need not exist."""
    names = (config.notebook, config.enrichment, config.abbreviations)
    resolvers = (resolve_gold_path, resolve_questions_path, resolve_answers_path)
    return [*(Path(name) for name in names if name), *(resolve(config) for resolve in resolvers)]


def read_known_questions(config: AnswerableConfig) -> dict[str, SectionQuestions]:
    """Read the file of questions by section, {} without a file."""
    path = resolve_questions_path(config)
    return read_questions(path) if path.is_file() else {}


def read_cutting_rules(config: AnswerableConfig) -> CuttingRules:
    """Read the rules by which pages are cut into passages, and the files that they name."""
    abbreviations, enrichment = config.abbreviations, config.enrichment
    return CuttingRules(
        window=PassageWindow(config.passages.words, config.passages.overlap),
        abbreviations=read_abbreviations(Path(abbreviations)) if abbreviations else {},
        enrichment=read_enrichment(Path(enrichment)) if enrichment else {},
    )


def resolve_endpoint(config: AnswerableConfig, language: str) -> str | None:
    """Resolve the endpoint of the widget in a published page."""
    template = config.widget.endpoint
    if template is None:
        return None
    return _fill_endpoint(template, read_mike_version() or "", language)


def is_absolute_endpoint(endpoint: str | None) -> TypeGuard[str]:
    """Test whether an endpoint names a host, so that pages of another one may ask it."""
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
        embedding_send_dimensions=config.embedding.send_dimensions,
        embedding_batch_size=config.embedding.batch_size,
        log_refusals=config.log_refusals,
        log_questions=config.log_questions,
    )


def is_preview_build(config: MkDocsConfig, command: str) -> bool:
    """Tell whether a build is one of `mkdocs serve`. command: as MkDocs reports it.

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
    """Tell whether pages are to answer on a disk too; Material's plugin decides without option."""
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


def resolve_function_folder(folder: Path) -> Path:
    """Resolve the function's folder: below the configured one, each version has one of its own."""
    version = read_mike_version()
    return folder / version if version else folder


def _fill_endpoint(template: str, version: str, language: str) -> str:
    if not version:
        # A build that mike has not started has no version, and no folder for it.
        template = template.replace("{version}/", "")
    return template.replace("{version}", version).replace("{language}", language)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not low <= value <= high:
        raise SiteError(f"{name}: {value} is not between {low} and {high}")


_SUB_OPTION = re.compile(r"Sub-option '([^']*)': ")


def list_option_names(options: type[base.Config], prefix: str = "") -> Iterator[str]:
    """List the options of a class with those of its groups, such as ``widget.endpoint``."""
    for name, option in vars(options).items():
        if isinstance(option, c.SubConfig) and isinstance(option.config_class, type):
            yield from list_option_names(option.config_class, f"{prefix}{name}.")
        elif isinstance(option, base.BaseConfigOption):
            yield f"{prefix}{name}"


# What does, outside the plugin's options, what people look for among them.
_EXCLUDE_REMEDY = (
    "What excludes one page is `answerable: {exclude: true}`: write it in its front matter"
)
_KEY_REMEDY = "A key is never read from a file: set the variable OPENAI_API_KEY"
_ELSEWHERE = {
    "exclude": _EXCLUDE_REMEDY,
    "exclude_pages": _EXCLUDE_REMEDY,
    "ignore": _EXCLUDE_REMEDY,
    "api_key": _KEY_REMEDY,
    "openai_api_key": _KEY_REMEDY,
    "key": _KEY_REMEDY,
}


def add_suggestion(options: type[base.Config], key: str, warning: str) -> str:
    """Add to MkDocs' warning of an unknown option which one it may mean, or what else does it.

    key: the option of the plugin that the warning is of, as MkDocs names it. An option of the same
    name in another group goes before one that is spelled similarly.
    """
    place, is_unknown, last = warning.partition("Unrecognised configuration name: ")
    name = ".".join([*[key, *_SUB_OPTION.findall(place)][:-1], last])
    if is_unknown and last in _ELSEWHERE:
        return f"{warning}. {_ELSEWHERE[last]}."
    by_last: dict[str, list[str]] = {}
    for option in list_option_names(options):
        by_last.setdefault(option.rpartition(".")[2], []).append(option)
    near = by_last.get(last) or get_close_matches(name, list_option_names(options), 1, 0.8)
    near = near or [by_last[key][0] for key in get_close_matches(last, by_last, 1, 0.75)]
    return f"{warning}. Did you mean {' or '.join(near)}?" if is_unknown and near else warning
