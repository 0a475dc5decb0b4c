"""The gate in a build: an encoding that loses something is published if the gold set admits it."""

from mkdocs.plugins import get_plugin_logger

from ..build import bundle_writer
from ..build.notebook import Notebook
from ..build.site import Staged
from ..evaluate import certificates, gate
from ..evaluate.gate import Report
from ..serve import provided
from ..serve.embedder import Embedder
from ..serve.errors import SiteError
from ..serve.profile import Profile
from . import choices
from .built import Built
from .config import AnswerableConfig

log = get_plugin_logger(__name__)

_REMEDY = "use int8 with all dimensions, or set `uncertified: allow` under `bundle`"


def check(built: Built, parts: int) -> None:
    """Refuse an encoding that no gold set can certify. parts: how many functions are written."""
    if not _is_needed(built.options):
        return
    what = f"bundle: {_label(built.options)}"
    path = choices.gold(built.options)
    if parts > 1:
        raise SiteError(
            f"{what} cannot be certified with `languages: apart`, where each language has a bundle "
            f"and the gold set is of all of them: {_REMEDY}"
        )
    if not path.is_file():
        raise SiteError(
            f"{what} needs a gold set to certify it, and {path} does not exist: write one, or "
            f"{_REMEDY}"
        )


def certify(built: Built, staged: Staged, private: Notebook) -> None:
    """Refuse what is staged if the gold set rejects its encoding; SiteError names the verdicts."""
    options = built.options
    if not _is_needed(options):
        if _loses(options):
            log.info("bundle: %s is published uncertified", _label(options))
        return
    report = _report(built, staged, private)
    if not report.certified:
        # What has flipped may name a note's file, and a build's log may be public.
        ids = ", ".join(found.id for found in report.comparisons if not found.holds)
        raise SiteError(
            f"bundle: {gate.summary(report)}; see `answerable gate` for {ids}, and {_REMEDY}"
        )
    log.info("bundle: %s", gate.summary(report))


def _report(built: Built, staged: Staged, private: Notebook) -> Report:
    profile = choices.profile(built.options, staged.index)
    full = provided.answers_here(built.options.answers.provider)
    path = choices.gold(built.options)
    case = gate.case(path, built.author, staged.index, private, full=full)
    kept = built.cache / "certificates"
    name = certificates.key(bundle_id(staged, built.embedder, profile), staged.index, case)
    if known := certificates.read(kept, name):
        return known
    report = gate.judge(staged.index, staged.contents, built.embedder, profile, case, built.cache)
    certificates.write(kept, name, report)
    return report


def bundle_id(staged: Staged, embedder: Embedder, profile: Profile) -> str:
    """The id that what is staged would be published under."""
    now = bundle_writer.build_time("0")
    made = staged.contents
    return bundle_writer.describe(staged.index, made, embedder.identity, profile, now).id


def _is_needed(options: AnswerableConfig) -> bool:
    return _loses(options) and options.bundle.uncertified == "refuse"


def _loses(options: AnswerableConfig) -> bool:
    return choices.encoding(options).needs_certificate(choices.identity(options).dimensions)


def _label(options: AnswerableConfig) -> str:
    return choices.encoding(options).label(choices.identity(options).dimensions)
