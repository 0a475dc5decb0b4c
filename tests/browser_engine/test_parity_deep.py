"""Replies of the engine in the browser equal Python's as a whole, on real sites."""

import json
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from support import engine_parity, sites
from support.engine_parity import BrowserSite, Question

pytestmark = pytest.mark.deep

SHARED = sorted(path.stem for path in sites.DATA.glob("questions/*.jsonl"))


@pytest.fixture(scope="module", params=SHARED)
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserSite]:
    folder = tmp_path_factory.mktemp("deep") / "site"
    shutil.copytree(sites.DATA / "sites" / request.param, folder, copy_function=shutil.copy)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    sites.put(
        folder / "keyless.yml",
        "INHERIT: mkdocs.yml\nplugins: [search, {answerable: {function: function}}]\n",
    )
    done = sites.build(folder, "-q", "--config-file", "keyless.yml")
    assert done.returncode == 0, done.stderr
    with engine_parity.serving_site(folder) as served:
        yield served


def list_questions() -> list[Question]:
    """List the frozen questions, and those that people have asked about these sites."""
    questions = engine_parity.read_questions()
    for name in SHARED:
        lines = (sites.DATA / "questions" / f"{name}.jsonl").read_text("utf-8").split("\n")
        questions += [Question(name, json.loads(line)["question"]) for line in lines if line]
    return questions


def test_no_reply_differs_on_a_real_site(site: BrowserSite, page: Page) -> None:
    questions = list_questions()
    expected = [engine_parity.expect_result(site.engine, question) for question in questions]
    with engine_parity.asking_in_node(site) as ask:
        differences = engine_parity.describe_differences(questions, expected, ask)
        assert not differences, differences
    ask = engine_parity.asking_in_page(site, page)
    differences = engine_parity.describe_differences(questions, expected, ask)
    assert not differences, differences
