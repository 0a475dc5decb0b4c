"""Check ranges of the plugin's options; resolve scoring profile, encoding, settings and paths."""

import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..indexing.index import SiteIndex
from ..indexing.pages.enrichment import read_abbreviations, read_enrichment
from ..indexing.pages.page_index import CuttingRules
from ..indexing.pages.passages import PassageWindow
from ..indexing.scoring_profile import choose_embedder_profile
from ..postgres.options import VectorSearch, check_database_url
from ..serve.answers.wire import ROUTE_FIELDS, list_template_fields
from ..serve.bundle_format.profile import LOCAL_PROFILE, Profile
from ..serve.embedders import local_embedder
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.errors import SiteError
from ..serve.provider_registry import EMBEDDER_PROVIDERS
from ..serve.retrieval.retrieve import TOP_K
from ..serve.settings import FunctionSettings
from ..serve.structure import is_safe_url
from ..serve.text.languages import is_language_tag
from ..serve.vectors.encodings import Encoding
from .config import AnswerableConfig

# The numeric options of `retrieval` with their greatest values.
_RETRIEVAL_MAXIMA = (
    ("floor", 1), ("note_floor", 1), ("hybrid", 10),
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
    _check_embedding(config)
    _check_range("embedding.dimensions", config.embedding.dimensions, 1, 16_384)
    _check_range("embedding.batch_size", config.embedding.batch_size, 1, 2048)
    if config.bundle.dimensions is not None:
        _check_range(
            "bundle.dimensions", config.bundle.dimensions, 1, resolve_identity(config).dimensions
        )
    for model, price in config.evaluate.prices.items():
        _check_range(f"evaluate.prices: {model}: input", price.input, 0, 1_000_000)
        _check_range(f"evaluate.prices: {model}: output", price.output, 0, 1_000_000)
    _check_range("answers.timeout", config.answers.timeout, 1, 600)
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
    route = config.answers.route
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


def _check_embedding(config: AnswerableConfig) -> None:
    """Require a model and dimensions of a registered embedder; SiteError names what is missing."""
    embedding = config.embedding
    if embedding.provider in EMBEDDER_PROVIDERS.builtin:
        return
    written = {name for options in embedding.user_configs for name in options}
    if missing := [name for name in ("model", "dimensions") if name not in written]:
        raise SiteError(
            f"embedding.provider: {embedding.provider} needs "
            f"{' and '.join(f'embedding.{name}' for name in missing)} beside it, since the "
            "defaults are OpenAI's; add what is missing"
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


def describe_stale_floors(config: AnswerableConfig) -> str | None:
    """Describe floors that were measured for another embedder; None if there are none."""
    retrieval, label = config.retrieval, resolve_identity(config).label
    is_set = retrieval.floor is not None or retrieval.note_floor is not None
    if is_set and retrieval.calibrated_for not in (None, label):
        return (
            f"retrieval.calibrated_for: the floors were set for {retrieval.calibrated_for}, and "
            f"the embedder is {label}; run `answerable calibrate` after the build and paste what "
            "it prints"
        )
    provider = config.embedding.provider
    is_borrowed = provider != "local" and EMBEDDER_PROVIDERS[provider].profile == LOCAL_PROFILE
    if is_borrowed and retrieval.floor is None:
        return (
            f"retrieval.floor: {LOCAL_PROFILE.floor} was measured for the local embedder, and the "
            f"embedder is {label}; run `answerable calibrate` after the build, then set "
            "retrieval.floor and retrieval.calibrated_for"
        )
    return None


def resolve_identity(config: AnswerableConfig) -> EmbedderIdentity:
    """Resolve the identity of the embedder that the options name."""
    embedding = config.embedding
    if embedding.provider == "local":
        return local_embedder.LOCAL_IDENTITY
    return EmbedderIdentity(embedding.provider, embedding.model, embedding.dimensions)


def resolve_profile(config: AnswerableConfig, index: SiteIndex) -> Profile:
    """Resolve the scoring profile: the embedder's for this index, with the options that are set."""
    profile = choose_embedder_profile(config.embedding.provider, index)
    values = {name: config.retrieval[name] for name in _PROFILE_OPTIONS}
    return replace(profile, **{name: value for name, value in values.items() if value is not None})


def resolve_encoding(config: AnswerableConfig) -> Encoding:
    """Resolve the encoding of vectors: with all of their dimensions where no number is set."""
    bundle = config.bundle
    return Encoding(bundle.encoding, bundle.dimensions or resolve_identity(config).dimensions)


def resolve_gold_path(config: AnswerableConfig) -> Path:
    """Resolve the path of the gold set, which need not exist."""
    return Path(config.config_file_path).parent / config.gold


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
