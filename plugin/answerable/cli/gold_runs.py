"""Run the gold set over one answerer after another, with a word about the cost of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import click

from ..evaluate.entailment import EntailmentJudge
from ..evaluate.gold import GoldQuery
from ..evaluate.gold_run import RunOptions, run_gold_queries
from ..evaluate.report import EvalReport, make_report
from ..evaluate.run_costs import ModelPrice
from ..evaluate.verdict import Verdict
from ..indexing.progress import show_progress
from ..serve.engine import Engine
from ..serve.provider_registry import ANSWERER_PROVIDERS, answers_in_process
from ..serve.providers import make_engine
from ..serve.settings import FunctionSettings
from ..serve.stores.bundle import Bundle
from .evaluate_options import MODEL_JOBS, confirm_cost


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """Choose how queries are asked.

    ``jobs``: at once, None for the default. ``repeat``: how often each. ``is_agreed``: do not ask
    before calls that cost money. ``judge``: of claims, in the full tier.
    """

    full: bool = False
    jobs: int | None = None
    repeat: int = 1
    fail_fast: bool = False
    is_agreed: bool = False
    judge: EntailmentJudge | None = None


@dataclass(frozen=True, slots=True)
class GoldRun:
    """Ask one model after another the same queries of a site.

    ``note_ids``: from a note's path to its id. ``prices``: by the name of a model.
    """

    engine: Engine[Bundle]
    queries: Sequence[GoldQuery]
    note_ids: Mapping[str, str]
    prices: Mapping[str, ModelPrice]
    options: AskingOptions

    def ask(self, settings: FunctionSettings) -> EvalReport:
        """Run the queries over the answerer of the settings, after a word about its cost."""
        options = self.options
        by_model = options.full and not answers_in_process(settings.answers)
        runnable = [query for query in self.queries if by_model or not query.requires_model]
        store = self.engine.store
        judge = options.judge if options.full else None
        confirm_cost(
            store.manifest.identity,
            settings,
            embedded=len(runnable),
            answered=len(runnable) * options.repeat if by_model else 0,
            is_agreed=options.is_agreed,
            judge=judge,
            judged=len(runnable) * options.repeat,
        )
        engine = make_engine(store, self.engine.embedder, settings)
        jobs = options.jobs or (MODEL_JOBS if by_model else 1)
        plan = RunOptions(options.full, jobs, options.repeat, judge)
        answers = name_answerer(settings) if options.full else settings.answers
        return make_report(
            store.manifest,
            _collect_verdicts(runnable, engine, self.note_ids, plan, fail_fast=options.fail_fast),
            self.queries,
            runnable,
            tier="full" if options.full else "retrieval",
            answers=answers,
            site_url=store.site.url,
            price=self.prices.get(answers),
            judge=judge.model if judge else None,
        )


def name_answerer(settings: FunctionSettings) -> str:
    """Name what writes answers: a model, or a provider that needs none."""
    return settings.answers if answers_in_process(settings.answers) else settings.model


def choose_model(settings: FunctionSettings, model: str | None) -> FunctionSettings:
    """Choose another answerer: a provider such as ``extractive``, else a model of a server."""
    if model is None:
        return settings
    if model in ANSWERER_PROVIDERS and answers_in_process(model):
        return replace(settings, answers=model)
    provider = "openai" if answers_in_process(settings.answers) else settings.answers
    return replace(settings, answers=provider, model=model)


def _collect_verdicts(
    queries: Sequence[GoldQuery],
    engine: Engine[Bundle],
    note_ids: Mapping[str, str],
    plan: RunOptions,
    *,
    fail_fast: bool,
) -> list[Verdict]:
    """Collect the verdicts, up to an interruption or, if so wanted, to the first failure."""
    verdicts: list[Verdict] = []
    with show_progress("judging") as report_progress:
        try:
            for verdict in run_gold_queries(queries, engine, note_ids, plan):
                verdicts.append(verdict)
                if report_progress:
                    report_progress(len(verdicts), len(queries))
                if fail_fast and not verdict.holds:
                    break
        except KeyboardInterrupt:
            click.echo("Interrupted: the report says what was judged until then.", err=True)
    return verdicts
