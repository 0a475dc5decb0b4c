"""Publishers of a site, as its repository names them: workflows, files of hosts, mike."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..indexing.yaml_reader import AnyTagLoader, YamlError, parse_yaml
from .repository import has_pages_branch, read_default_branch

WORKFLOWS = Path(".github", "workflows")
# Files by which a host builds a site.
_HOST_FILES = {
    ".readthedocs.yaml": "Read the Docs",
    ".readthedocs.yml": "Read the Docs",
    "netlify.toml": "Netlify",
    ".gitlab-ci.yml": "GitLab Pages",
    "render.yaml": "Render",
    "vercel.json": "Vercel",
}
_BUILDS = re.compile(
    r"\b(?:mkdocs|properdocs|zensical|answerable)\b[^\n]*\bbuild\b|\bgh-deploy\b|\bmike\s+deploy\b"
    r"|\bsphinx-build\b|\bmake\b[^\n]*\bhtml\b|\bhugo\b|\bdocusaurus\b|mkdocs-deploy-gh-pages"
)
# What in a workflow publishes a site, and on which host of files.
_PUBLISHES = {
    re.compile(r"gh-deploy|gh-pages|deploy-pages|\bmike\s+deploy"): "GitHub Pages",
    re.compile(r"\bpages deploy\b"): "Cloudflare Pages",
    re.compile(r"\bnetlify\b"): "Netlify",
}
_GENERATORS = re.compile(r"mkdocs|sphinx|zensical|answerable|hugo|docusaurus")


@dataclass(frozen=True, slots=True)
class Publisher:
    """What builds a site elsewhere: a file of the repository with its text, or a tool.

    ``host``: where it publishes files alone, None if it only builds.
    """

    name: str
    host: str | None
    text: str = ""

    @property
    def workflow(self) -> Mapping[Any, Any]:
        """The parsed workflow; empty for another file, or one that is not YAML."""
        if not self.name.startswith(WORKFLOWS.as_posix()):
            return {}
        try:
            data = parse_yaml(self.text, loader_class=AnyTagLoader)
        except YamlError:
            return {}
        return data if isinstance(data, dict) else {}


def find_publishers(folder: Path, config: str) -> list[Publisher]:
    """Find what builds and publishes the site of a repository, whose top folder is given.

    config: the text of the site's configuration. Where no workflow publishes, a
    branch of pages is pushed by hand.
    """
    publishers = list(_read_files(folder))
    is_published = any(publisher.host for publisher in publishers)
    if not is_published and re.search(r"provider:\s*mike\b|^\s*-\s*mike\b", config, re.M):
        publishers.insert(0, Publisher("mike", "GitHub Pages"))
    elif not publishers and has_pages_branch(folder):
        publishers.append(Publisher("the branch gh-pages", "GitHub Pages"))
    return publishers


def _read_files(folder: Path) -> Iterator[Publisher]:
    paths = [*sorted((folder / WORKFLOWS).glob("*.y*ml")), *(folder / name for name in _HOST_FILES)]
    for path in filter(Path.is_file, paths):
        text = path.read_text(encoding="utf-8", errors="replace")
        host = _HOST_FILES.get(path.name)
        if (_GENERATORS if host else _BUILDS).search(text):
            marks = (name for mark, name in _PUBLISHES.items() if mark.search(text))
            name = path.relative_to(folder).as_posix()
            yield Publisher(name, host or next(marks, None), text)


def find_missed_branch(publisher: Publisher, folder: Path) -> str | None:
    """Find the default branch if no push to it runs a workflow, and nothing else does either."""
    # YAML reads the key `on` as a truth value.
    triggers = publisher.workflow.get("on", publisher.workflow.get(True))
    by_hand = {"push", "pull_request", "workflow_dispatch"}
    if not isinstance(triggers, dict) or set(triggers) - by_hand:
        return None
    push = triggers.get("push")
    patterns = push.get("branches") if isinstance(push, dict) else None
    default = read_default_branch(folder)
    if not isinstance(patterns, list) or not default or "tags" in (push or {}):
        return None
    is_matched = any(fnmatchcase(default, str(pattern)) for pattern in patterns)
    return None if is_matched else default


def list_building_environments(publisher: Publisher) -> Iterator[Mapping[str, str]]:
    """List the environment variables that each building step of a workflow has."""
    workflow = publisher.workflow
    jobs = workflow.get("jobs")
    for job in jobs.values() if isinstance(jobs, dict) else ():
        for step in job.get("steps") or () if isinstance(job, dict) else ():
            if isinstance(step, dict) and _BUILDS.search(str(step.get("run", ""))):
                groups = (place.get("env") or {} for place in (workflow, job, step))
                yield {name: str(value) for group in groups for name, value in group.items()}
