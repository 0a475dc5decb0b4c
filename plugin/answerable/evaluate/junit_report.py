"""Write verdicts as JUnit XML, which CI services show as tests."""

import re
from pathlib import Path
from xml.etree import ElementTree

from ..indexing.output.atomic_files import write_file
from .report import EvalReport
from .verdict import Verdict

# Characters that XML 1.0 cannot hold, not even as references.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ABORTED = "the run was aborted before every query was judged"
_ABORTED_NAME = "(aborted)"


def write_junit(path: Path, report: EvalReport, file: Path) -> None:
    """Write a report as JUnit XML. file: the gold set, or what else the questions are from."""
    write_file(path, render_junit(report, file))


def render_junit(report: EvalReport, file: Path) -> bytes:
    """Render a report as JUnit XML, UTF-8: a suite for the tier, a case for each query.

    A known failure is a skipped case, and so is a query that only an answer model can be held to.
    """
    # CI services show it to whoever may see the run.
    report = report.public
    cases = [_render_case(verdict, report, file) for verdict in report.verdicts]
    for name in report.skipped:
        case = ElementTree.Element("testcase", _describe_case(name, report, file))
        ElementTree.SubElement(case, "skipped", message="only an answer model can be held to it")
        cases.append(case)
    if report.is_aborted:
        # A case of its own, since tools count cases: without one an aborted run would look passed.
        case = ElementTree.Element("testcase", _describe_case(_ABORTED_NAME, report, file))
        ElementTree.SubElement(case, "error", message=_ABORTED)
        cases.append(case)
    seconds = sum(each.usage.seconds for each in report.verdicts if each.usage)
    counts = {
        "tests": str(len(cases)),
        "failures": _count(cases, "failure"),
        "errors": _count(cases, "error"),
        "skipped": _count(cases, "skipped"),
        "time": f"{seconds:.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "answerable", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"{report.tier} tier", **counts})
    suite.extend(cases)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _render_case(verdict: Verdict, report: EvalReport, file: Path) -> ElementTree.Element:
    attributes = _describe_case(verdict.id, report, file)
    if verdict.usage:
        attributes["time"] = f"{verdict.usage.seconds:.3f}"
    case = ElementTree.Element("testcase", attributes)
    match verdict.status:
        case "error":
            _add_outcome(case, "error", verdict.error or "", verdict)
        case "fail":
            _add_outcome(case, "failure", "; ".join(verdict.issues), verdict)
        case "flaky":
            _add_outcome(case, "failure", verdict.outcome, verdict)
        case "unexpected-pass":
            message = f"passes, though it is a known failure: {verdict.known_failure}"
            _add_outcome(case, "failure", message, verdict)
        case "known-failure":
            _add_outcome(case, "skipped", f"known failure: {verdict.known_failure}", verdict)
    return case


def _add_outcome(case: ElementTree.Element, kind: str, message: str, verdict: Verdict) -> None:
    outcome = ElementTree.SubElement(case, kind, message=_drop_invalid(message))
    lines = [verdict.query, *verdict.issues, verdict.note]
    if verdict.answer:
        lines.append(verdict.answer.text)
    outcome.text = _drop_invalid("\n".join(filter(None, lines)))


def _describe_case(name: str, report: EvalReport, file: Path) -> dict[str, str]:
    return {
        "name": _drop_invalid(name),
        "classname": f"answerable.{report.tier}",
        "file": _drop_invalid(file.as_posix()),
    }


def _count(cases: list[ElementTree.Element], kind: str) -> str:
    return str(sum(case.find(kind) is not None for case in cases))


def _drop_invalid(text: str) -> str:
    return _NOT_XML.sub("", text)
