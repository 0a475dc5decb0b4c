"""docs/python.md: its modules are installed as its entry points say, and its snippets are run."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from support import manual, registered_packages, sites
from support.registered_packages import run

PAGE = "python.md"
QUESTION = "How do I set a timeout?"


def blocks(language: str) -> list[str]:
    return [
        block.text
        for block in manual.blocks()
        if block.where.startswith(f"{PAGE}:") and block.language == language
    ]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the modules of the page, installed with its entry points."""
    folder = tmp_path_factory.mktemp("packages")
    for text in blocks("python"):
        if file_name := re.match(r"# (\w+\.py)\n", text):
            (folder / file_name[1]).write_text(text, "utf-8")
    for number, text in enumerate(blocks("toml")):
        project = tomllib.loads(text)["project"]
        name, version = project.get("name", f"example-{number}"), project.get("version", "1.0")
        registered_packages.write_metadata(folder, name, version, project["entry-points"])
    assert len(list(folder.glob("*.py"))) == 2
    assert len(list(folder.glob("*.dist-info"))) == 2
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the manual's examples, built without a key."""
    folder = manual.write_site(tmp_path_factory.mktemp("python"))
    done = sites.build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Path:
    """A site built with both registered providers."""
    embedding = {"provider": "letters", "model": "pairs", "dimensions": 512}
    options = {
        "embedding": embedding,
        "answers": {"provider": "first-sentence"},
        "retrieval": {"floor": 0},
    }
    folder = sites.write_site(tmp_path_factory.mktemp("own"), options=options)
    done = run(folder, packages, "-m", "mkdocs", "build", "-q")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_snippets_of_the_page_run_in_their_order(site: Path, packages: Path) -> None:
    snippets = [text for text in blocks("python") if not text.startswith("# ")]
    assert len(snippets) >= 4
    done = run(site, packages, "-c", "\n".join(snippets))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "[1]" in done.stdout
    assert any(line.startswith("partial 0.") or line == "partial 1.0" for line in lines)
    assert "['Who won the football world cup?']" in lines


def test_a_build_lists_registered_providers_in_the_requirements(own_site: Path) -> None:
    requirements = (own_site / "function" / "requirements.txt").read_text("utf-8").splitlines()
    assert {"letter-pairs==1.0", "example-1==1.0"} <= set(requirements)
    manifest = json.loads((own_site / "function" / "bundle" / "manifest.json").read_text("utf-8"))
    assert manifest["embedder"] == {"provider": "letters", "model": "pairs", "dimensions": 512}


def test_the_command_asks_registered_providers(own_site: Path, packages: Path) -> None:
    code = "from answerable.cli import main; main()"
    done = run(own_site, packages, "-c", code, "ask", "--json", "How thick is the chain?")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["mode"] == "partial"


def test_the_code_of_the_function_opens_registered_providers(
    own_site: Path, packages: Path
) -> None:
    function = own_site / "function"
    code = (
        f"import sys; sys.path.insert(0, {str(function)!r}); import answerable\n"
        "engine = answerable.open_bundle('function')\n"
        f"assert answerable.__file__.startswith({str(function)!r}), answerable.__file__\n"
        "print(type(engine.embedder.inner).__name__, engine.answer('How thick is the chain?').mode)"
    )
    done = run(own_site, packages, "-c", code)
    assert (done.returncode, done.stdout) == (0, "LetterPairs partial\n"), done.stderr


def test_a_function_without_the_package_names_what_is_registered(own_site: Path) -> None:
    done = sites.command(own_site, "--bundle", "function/bundle", "ask", QUESTION)
    assert done.returncode == 1
    assert "embedder provider 'letters' is unknown to this version" in done.stderr
    assert "install the package that registers it (local, openai are there)" in done.stderr


def test_a_wrong_provider_in_the_options_is_told_which_are_registered(
    tmp_path: Path, packages: Path
) -> None:
    for option, builtin, registered in (
        ("embedding", "'local', 'openai'", "letters"),
        ("answers", "'extractive', 'openai'", "first-sentence"),
    ):
        folder = sites.write_site(tmp_path / option, options={option: {"provider": "psychic"}})
        done = run(folder, packages, "-m", "mkdocs", "build", "-q")
        assert done.returncode == 1
        expected = f"Expected one of: ({builtin}, '{registered}') but received: 'psychic'"
        assert expected in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("raise ImportError('no gears')", "cannot be imported (no gears)"),
        ("PROVIDER = 7", "is not an answerable.Provider with a factory"),
        ("from answerable import Provider; PROVIDER = Provider()", "is not an answerable.Provider"),
    ],
)
def test_a_broken_entry_point_is_named_with_its_package(
    tmp_path: Path, packages: Path, module: str, message: str
) -> None:
    broken = tmp_path / "packages"
    broken.mkdir()
    for path in packages.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            sites.put(broken / path.relative_to(packages), path.read_text("utf-8"))
    sites.put(broken / "letter_pairs.py", module)
    embedding = {"provider": "letters", "model": "pairs", "dimensions": 512}
    folder = sites.write_site(tmp_path / "site", options={"embedding": embedding})
    done = run(folder, broken, "-m", "mkdocs", "build", "-q")
    assert done.returncode == 1
    assert "answerable.embedders: letters of letter-pairs " in done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
