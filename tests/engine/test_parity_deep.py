"""Replies of the engine in the browser equal Python's as a whole: thousands, on real sites.

Runs in `make check-deep`, for minutes.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.utils.yaml import yaml_load
from playwright.sync_api import Page

from support import engine_parity, generated_sites, sites
from support.engine_parity import Ask, BrowserSite, Result
from support.fuzz_settings import DEEP
from support.hard_questions import HardQuestion, generate_questions

pytestmark = pytest.mark.skipif(not DEEP, reason="runs in `make check-deep` only")

SHARED = sorted(path.stem for path in sites.DATA.glob("questions/*.jsonl"))
COUNT = 2000
COUNT_OF_GENERATOR = 60
# Of the generated: a character that one of the two knows a newer Unicode for.
ALLOWED_SHARE = 1 / 400


@pytest.fixture(scope="module", params=["manual", *SHARED])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserSite]:
    folder = tmp_path_factory.mktemp("deep") / "site"
    if request.param == "manual":
        folder.mkdir()
        for name in ("docs", "overrides"):
            shutil.copytree(sites.ROOT / name, folder / name)
        shutil.copy(sites.ROOT / "mkdocs.yml", folder)
    else:
        shutil.copytree(sites.DATA / "sites" / request.param, folder, copy_function=shutil.copy)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    _build_keyless(folder)
    with engine_parity.serving_site(folder) as served:
        yield served


@pytest.fixture(scope="module")
def real_questions() -> list[HardQuestion]:
    """List those that people have asked, about this site and about the others."""
    questions = engine_parity.list_gold_questions()
    for name in SHARED:
        lines = (sites.DATA / "questions" / f"{name}.jsonl").read_text("utf-8").split("\n")
        questions += [
            HardQuestion(name, json.loads(line)["question"]) for line in lines if line.strip()
        ]
    return questions


@pytest.fixture(scope="module")
def hard_questions(site: BrowserSite) -> list[HardQuestion]:
    return list(generate_questions(site.list_passages(), COUNT))


@pytest.fixture(scope="module")
def expect(site: BrowserSite) -> Callable[[list[HardQuestion]], list[Result]]:
    """Return a function that asks Python once for both environments."""
    results: dict[int, list[Result]] = {}

    def expect_results(questions: list[HardQuestion]) -> list[Result]:
        if id(questions) not in results:
            results[id(questions)] = [
                engine_parity.expect_result(site.engine, each) for each in questions
            ]
        return results[id(questions)]

    return expect_results


@pytest.fixture(params=["node", "page"])
def ask(request: pytest.FixtureRequest, site: BrowserSite) -> Iterator[Ask]:
    if request.param == "node":
        with engine_parity.asking_in_node(site) as ask_node:
            yield ask_node
    else:
        page: Page = request.getfixturevalue("page")
        yield engine_parity.asking_in_page(site, page)


def test_no_reply_to_a_real_question_differs(
    real_questions: list[HardQuestion],
    expect: Callable[[list[HardQuestion]], list[Result]],
    ask: Ask,
) -> None:
    differences = engine_parity.find_differences(real_questions, expect(real_questions), ask)
    assert not differences, engine_parity.describe_differences(differences)


def test_hardly_a_reply_to_a_generated_question_differs(
    hard_questions: list[HardQuestion],
    expect: Callable[[list[HardQuestion]], list[Result]],
    ask: Ask,
) -> None:
    differences = engine_parity.find_differences(hard_questions, expect(hard_questions), ask)
    share = len(differences) / len(hard_questions)
    assert share <= ALLOWED_SHARE, engine_parity.describe_differences(differences)


@pytest.mark.parametrize("generator", generated_sites.GENERATORS)
def test_no_reply_differs_on_the_site_of_a_generator(generator: str, tmp_path: Path) -> None:
    generated_sites.build(generator, tmp_path / "built").rename(tmp_path / "site")
    done = sites.index(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with engine_parity.serving_site(tmp_path) as served:
        questions = list(generate_questions(served.list_passages(), COUNT_OF_GENERATOR))
        expected = [engine_parity.expect_result(served.engine, each) for each in questions]
        with engine_parity.asking_in_node(served) as ask:
            differences = engine_parity.find_differences(questions, expected, ask)
    assert not differences, engine_parity.describe_differences(differences)


def _build_keyless(folder: Path) -> None:
    """Build a project by the plugin's defaults, without a notebook, beside its other plugins."""
    with (folder / "mkdocs.yml").open(encoding="utf-8") as stream:
        config: dict[str, Any] = yaml_load(stream)
    plugins = config.get("plugins", ["search"])
    if isinstance(plugins, dict):
        plugins = [{name: options or {}} for name, options in plugins.items()]
    others = [each for each in plugins if "answerable" not in each]
    # The rest of the file may hold tags that only MkDocs knows.
    sites.put(
        folder / "answerable.yml",
        yaml.safe_dump({"INHERIT": "mkdocs.yml", "plugins": [*others, "answerable"]}),
    )
    done = sites.build(folder, "-q", "--config-file", "answerable.yml")
    assert done.returncode == 0, done.stderr
