"""The gold set in a build: a page that has lost its answer is noticed before it is published."""

from collections.abc import Sequence
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..build.notebook import Notebook
from ..build.site import Staged
from ..evaluate import certificates, gate, overlap, reports, runner
from ..evaluate.gold import GoldQuery
from ..evaluate.reports import Report
from ..serve.errors import GoldError, SiteError
from . import choices
from .built import Built
from .certifying import bundle_id

log = get_plugin_logger(__name__)


def check(built: Built, parts: int) -> None:
    """Refuse a gate without a gold set for it. parts: how many functions are written."""
    if built.options.gate == "none":
        return
    path = choices.gold(built.options)
    if parts > 1:
        raise SiteError(
            "gate: retrieval cannot judge `languages: apart`, where each language has a bundle and "
            "the gold set is of all of them: set `gate: none`, and run `answerable eval --bundle` "
            "for each"
        )
    if not path.is_file():
        raise SiteError(
            f"gate: retrieval needs a gold set, and {path} does not exist: write one, or set "
            "`gate: none`"
        )


def judge(built: Built, staged: Staged, private: Notebook) -> None:
    """Run the retrieval tier over what is staged.

    A failure is a warning, and in a strict build a SiteError, so that nothing is published.
    """
    if built.options.gate == "none":
        return
    report = _report(built, staged, private)
    asked = len(report.rows)
    if report.holds:
        log.info("gate: %d of %d gold queries hold", asked, asked)
        return
    # An issue may name a note's file, and a build's log may be public.
    told = f"gate: {len(report.failed)} of {asked} gold queries fail ({', '.join(report.failed)})"
    if built.strict:
        raise SiteError(f"{told}; build without --strict, and see `answerable eval`")
    log.warning("%s; see `answerable eval`, or `answerable why` for one of them", told)


def _report(built: Built, staged: Staged, private: Notebook) -> Report:
    """The verdicts, from the last build if nothing that they depend on has changed."""
    profile = choices.profile(built.options, staged.index)
    case = gate.case(choices.gold(built.options), built.author, staged.index, private, full=False)
    _check_overlap(built, case.queries, staged.index.site.name)
    bundle = bundle_id(staged, built.embedder, profile)
    kept = _kept(built, certificates.key(bundle, staged.index, case))
    try:
        return reports.read(kept)
    except GoldError:
        pass
    asked = [query for query in case.queries if not query.requires_model]
    work = built.cache
    with gate.opened(staged.index, staged.contents, built.embedder, profile, work) as engine:
        report = reports.of(
            engine.bundle.manifest,
            runner.run(asked, engine, case.notes, full=False),
            case.queries,
            asked,
            tier="retrieval",
            answers=choices.settings(built.options).answers,
        )
    reports.write(kept, report, None, private=True)
    return report


def _check_overlap(built: Built, queries: Sequence[GoldQuery], name: str) -> None:
    """Refuse what was added to the pages for one question."""
    given = (built.options[option] for option in ("enrichment", "abbreviations"))
    overlap.check(queries, overlap.file_texts([Path(each) for each in given if each]), name)


def _kept(built: Built, name: str) -> Path:
    return built.cache / "verdicts" / f"{name}.json"
