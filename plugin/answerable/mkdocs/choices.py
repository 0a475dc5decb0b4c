"""The plugin's options as what the build and the function are told."""

import dataclasses
import re
from pathlib import Path

from ..build import abbreviations, enrichment
from ..build.cutting import Rules
from ..build.index import Index
from ..build.passages import Window
from ..serve import database, languages, local_embedder, provided, routes
from ..serve.embedder import Identity
from ..serve.encoding import Encoding
from ..serve.errors import SiteError
from ..serve.postgres.search import Search
from ..serve.profile import Profile, note_floor_of
from ..serve.provided import EMBEDDERS
from ..serve.settings import Settings
from ..serve.urls import is_safe_url
from . import versions
from .config import AnswerableConfig

# The options of `retrieval` that are numbers, and the highest each may be.
_RETRIEVAL = (
    ("floor", 1), ("note_floor", 1), ("hybrid", 10),
    ("name_boost", 1), ("theme_boost", 1), ("recency", 1),
)  # fmt: skip


# Of a site in a database.
_NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)

_PROFILE = (*(name for name, _ in _RETRIEVAL), "theme_fade")


def check(config: AnswerableConfig) -> None:
    """Refuse an option out of its range; SiteError names it and the range."""
    _between("passages.words", config.passages.words, 40, 2000)
    _between("passages.overlap", config.passages.overlap, 0, 0.5)
    _between("embedding.dimensions", config.embedding.dimensions, 1, 16_384)
    if config.bundle.dimensions is not None:
        _between("bundle.dimensions", config.bundle.dimensions, 1, identity(config).dimensions)
    _between("answers.timeout", config.answers.timeout, 1, 600)
    for name, top in _RETRIEVAL:
        if config.retrieval[name] is not None:
            _between(f"retrieval.{name}", config.retrieval[name], 0, top)
    for pattern, weight in config.retrieval.weights.items():
        _between(f"retrieval.weights: {pattern}", weight, 0, 10)
    _check_store(config)
    language = config.language
    if language is not None and not languages.is_tag(language):
        raise SiteError(f"language: {language!r} is no language tag; write one such as en or pt-BR")
    route = config.answers.route
    if route is not None and not {"label"} <= routes.fields(route) <= routes.FIELDS:
        raise SiteError(
            f"answers.route: {route!r} has to hold {{label}}, and may hold {{locator}}, {{where}} "
            "and {url}"
        )
    endpoint = config.widget.endpoint
    if endpoint is not None and not is_safe_url(_filled(endpoint, "x", "x")):
        raise SiteError(
            f"widget.endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )


def _check_store(config: AnswerableConfig) -> None:
    store = config.store
    if store.url:
        database.check_url(store.url, "store.url")
    if not _NAME.fullmatch(store.name):
        raise SiteError(f"store.name: {store.name!r:.80} is no name; write one such as docs")
    _between("store.grace", store.grace, 0, 10_000)
    try:
        search(config)
    except ValueError as error:
        raise SiteError(f"store.{error}; correct it") from None


def search(config: AnswerableConfig) -> Search:
    """How a database finds passages near a question; ValueError for what is out of range."""
    store = config.store
    return Search(store.search, store.m, store.ef_construction, store.ef_search)


def stale_floors(config: AnswerableConfig) -> str | None:
    """What is wrong with floors that were set for another embedder; None if nothing is known."""
    chosen, label = config.retrieval, identity(config).label
    is_set = chosen.floor is not None or chosen.note_floor is not None
    if not is_set or chosen.calibrated_for in (None, label):
        return None
    return (
        f"retrieval.calibrated_for: the floors were set for {chosen.calibrated_for}, and the "
        f"embedder is {label}; run `answerable calibrate` after the build and paste what it prints"
    )


def identity(config: AnswerableConfig) -> Identity:
    """The embedder that the options name."""
    chosen = config.embedding
    if chosen.provider == "local":
        return local_embedder.IDENTITY
    return Identity(chosen.provider, chosen.model, chosen.dimensions)


def profile(config: AnswerableConfig, index: Index) -> Profile:
    """The embedder's profile for an index with what the site's owner has set."""
    whole = EMBEDDERS[config.embedding.provider].profile
    if provided.embeds_here(config.embedding.provider):
        whole = dataclasses.replace(whole, note_floor=note_floor_of(len(index.hint_owners)))
    given = {name: config.retrieval[name] for name in _PROFILE}
    given = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(whole, **given)


def encoding(config: AnswerableConfig) -> Encoding:
    """How the options have vectors carried: all of their dimensions where none are named."""
    chosen = config.bundle
    return Encoding(chosen.encoding, chosen.dimensions or identity(config).dimensions)


def gold(config: AnswerableConfig) -> Path:
    """Where the gold set is, or would be."""
    return Path(config.config_file_path).parent / config.gold


def rules(config: AnswerableConfig) -> Rules:
    """How pages are cut."""
    short, extra = config.abbreviations, config.enrichment
    return Rules(
        window=Window(config.passages.words, config.passages.overlap),
        abbreviations=abbreviations.read(Path(short)) if short else {},
        enrichment=enrichment.read(Path(extra)) if extra else {},
    )


def endpoint(config: AnswerableConfig, language: str) -> str | None:
    """Where the widget of a published page asks."""
    given = config.widget.endpoint
    return None if given is None else _filled(given, versions.deployed() or "", language)


def settings(config: AnswerableConfig) -> Settings:
    """What the function is told of its providers."""
    answers = config.answers
    return Settings(
        answers=answers.provider,
        model=answers.model,
        base_url=answers.base_url or None,
        reasoning_effort=answers.reasoning_effort,
        timeout=float(answers.timeout),
        embedding_base_url=config.embedding.base_url or None,
        log_refusals=config.log_refusals,
        log_questions=config.log_questions,
    )


def _filled(endpoint: str, version: str, language: str) -> str:
    if not version:
        # A build that mike has not started has no version, and no folder for it.
        endpoint = endpoint.replace("{version}/", "")
    return endpoint.replace("{version}", version).replace("{language}", language)


def _between(name: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not low <= value <= high:
        raise SiteError(f"{name}: {value} is not between {low} and {high}")
