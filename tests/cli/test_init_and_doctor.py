"""A new user's two commands: set the site up for a host, and say what keeps it from answering."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from answerable.cli import main
from answerable.indexing.site_hosts.hosts import HOSTS
from support import registered_packages, sites
from support.published_functions import serving


def run(folder: Path, *args: str, columns: int = 400) -> Result:
    """Run a command for the site in a folder, in a terminal that breaks no line of it."""
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(
        main, ["-f", str(folder / "mkdocs.yml"), *args]
    )


def write_plain_site(folder: Path) -> Path:
    """A site as `mkdocs new` makes it, in a repository on GitHub."""
    sites.put(folder / "docs" / "index.md", "# Harbour\n\nHarbour keeps small boats in order.\n")
    sites.put(folder / "mkdocs.yml", "site_name: Harbour\ntheme:\n  name: material\n")
    for command in (
        ["git", "init", "-q"],
        ["git", "remote", "add", "origin", "git@github.com:Ann/harbour-docs.git"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("host", HOSTS)
def test_init_makes_a_site_that_builds_and_a_file_for_the_host(host: str, tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    result = run(folder, "init", "--host", host, "--site-url", "https://docs.example/")
    assert result.exit_code == 0, result.output
    config = yaml.safe_load((folder / "mkdocs.yml").read_text(encoding="utf-8"))
    options = yaml.safe_load(HOSTS[host].options.replace("PROJECT", "harbour-docs"))
    assert config["plugins"] == ["search", {"answerable": options} if options else "answerable"]
    assert config["site_url"] == "https://docs.example/"
    text = (folder / HOSTS[host].path).read_text(encoding="utf-8")
    assert "pip install mkdocs-material mkdocs-answerable" in text
    assert "mkdocs build" in text or "mkdocs gh-deploy" in text
    if HOSTS[host].path.endswith(("yml", "yaml")):
        assert yaml.safe_load(text)
    for step in HOSTS[host].steps:
        assert step in result.output


def test_init_run_again_overwrites_nothing(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init", "--host", "netlify").exit_code == 0
    names = ("mkdocs.yml", "netlify.toml", "eval/gold.yaml", ".gitignore")
    for name in names[1:]:
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    before = {name: (folder / name).read_bytes() for name in names}
    assert run(folder, "init", "--host", "netlify").exit_code == 0
    assert {name: (folder / name).read_bytes() for name in names} == before


def test_init_takes_the_address_from_the_remote_and_the_requirements(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    sites.put(folder / "requirements.txt", "mkdocs-material\n")
    assert run(folder, "init", "--host", "github-pages").exit_code == 0
    config = yaml.safe_load((folder / "mkdocs.yml").read_text(encoding="utf-8"))
    assert config["site_url"] == "https://ann.github.io/harbour-docs/"
    text = (folder / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8")
    assert "pip install -r requirements.txt mkdocs-answerable" in text


def test_init_without_a_site_or_with_a_bad_address_says_what_to_do(tmp_path: Path) -> None:
    missing = sites.command(tmp_path, "init")
    assert missing.returncode == 1
    assert "mkdocs new ." in missing.stderr
    folder = write_plain_site(tmp_path)
    assert "is not an http(s) address" in run(folder, "init", "--site-url", "docs").output


def test_gold_set_of_init_passes_on_the_site(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init").exit_code == 0
    assert sites.build(folder, "-q").returncode == 0
    judged = sites.command(folder, "eval", "--full")
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_doctor_finds_what_is_missing_and_then_nothing(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert "add it" in run(folder, "doctor").output
    assert run(folder, "init", "--host", "github-pages").exit_code == 0
    advice = run(folder, "doctor")
    assert advice.exit_code == 0, advice.output
    assert "there is no index yet" in advice.output
    assert sites.build(folder, "-q").returncode == 0
    good = run(folder, "doctor")
    assert "the last index holds 1 page in 1 passage" in good.output
    assert "✓ the ask box answers in the reader's browser" in good.output
    assert ".github/workflows/docs.yml builds the site" in good.output
    assert "and none must be answered; add those that readers ask" in good.output
    gold = folder / "eval" / "gold.yaml"
    added = "  - id: start\n    query: How do I start?\n    expectAnswerMode: partial\n"
    gold.write_text(gold.read_text("utf-8") + added, "utf-8")
    assert "1 must be refused; add 2 that the site does not answer" in run(folder, "doctor").output


def test_doctor_finds_vectors_of_notes_in_git(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, notes=sites.NOTES)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    assert sites.build(folder, "-q").returncode == 0
    assert "vectors of private notes" not in run(folder, "doctor").output
    bundle = Path("package", "vercel", "bundle")
    sites.put(folder / bundle / "manifest.json", "{}")
    sites.put(folder / "package" / "__init__.py", "")
    for name in ("package/__init__.py", ".cache", "function", str(bundle)):
        subprocess.run(["git", "add", "-f", name], cwd=folder, check=True)
    output = run(folder, "doctor").output
    assert output.count("vectors of private notes") == 3
    for private in (folder / "function", folder / ".cache/plugin/answerable", folder / bundle):
        assert f"run `git rm -r --cached {private}`" in output


def test_doctor_asks_the_function_only_if_it_is_told_to(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    assert sites.build(folder, "-q").returncode == 0
    with serving(folder / "function") as function:
        endpoint = f"http://127.0.0.1:{function.port}/"
        sites.write_site(folder, options={"widget": {"endpoint": endpoint}})
        alive = run(folder, "doctor", "--online")
        assert f"✓ the function at {endpoint} answers from the last index" in alive.output
        sites.put(folder / "docs" / "new.md", "# Sails\n\nSails are red.\n")
        assert sites.build(folder, "-q").returncode == 0
        assert (
            "another index than the last build's; deploy it"
            in run(folder, "doctor", "--online").output
        )
        lost = {"widget": {"endpoint": f"{endpoint}lost"}}
        sites.write_site(folder, options=lost)
        assert "/lost/health answers with 404; deploy" in run(folder, "doctor", "--online").output
    stopped = run(folder, "doctor", "--online")
    assert "/lost/health is no answer function" in stopped.output
    assert stopped.exit_code == 1
    assert "answer function" not in run(folder, "doctor").output


def test_init_ignores_no_code_of_the_repository(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    sites.put(folder / "package" / "__init__.py", "")
    assert run(folder, "init").exit_code == 0
    ignored = (folder / ".gitignore").read_text("utf-8").split()
    assert ignored == ["/site/", "/function/", "/.cache/"]


def test_init_names_the_file_of_another_host(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init", "--host", "github-pages").exit_code == 0
    output = run(folder, "init", "--host", "github-pages-and-vercel").output
    assert "stays as it is; remove it first if it is not for GitHub Pages, with a" in output


def test_init_leaves_a_file_that_inherits_its_plugins(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    text = "INHERIT: base.yml\nsite_name: Harbour\n"
    sites.put(folder / "mkdocs.yml", text)
    assert "add answerable to the plugins of base.yml" in sites.command(folder, "init").stderr
    assert (folder / "mkdocs.yml").read_text("utf-8") == text


def test_init_tells_where_other_plugins_go_unless_there_is_a_list(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    step = "If the site has other plugins, add their packages to .github/workflows/docs.yml"
    assert step in run(folder, "init", "--host", "github-pages").output
    sites.put(folder / "requirements.txt", "mkdocs-macros-plugin\n")
    assert step not in run(folder, "init", "--host", "github-pages").output


@pytest.mark.parametrize(
    "name",
    ["mkdocs.yml", "eval/gold.yaml", ".gitignore", ".github/workflows/docs.yml", "eval", ".github"],
)
@pytest.mark.parametrize("exists", [True, False])
def test_init_writes_neither_through_nor_over_a_link(
    tmp_path: Path, name: str, exists: bool
) -> None:
    folder = write_plain_site(tmp_path / "site")
    target = tmp_path / "elsewhere"
    link = folder / name
    if name == "mkdocs.yml":
        link.rename(target)
    elif exists:
        sites.put(target / "kept" if "." not in name[1:] else target, "mine\n")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = run(folder, "init", "--host", "github-pages")
    assert result.exit_code == 1
    assert f"{link} is a symbolic link, and init writes neither" in result.output
    assert link.is_symlink()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_doctor_says_that_the_file_may_run_code_before_it_does(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    code = 'probe: !!python/object/apply:os.system ["echo The code of the file"]\n'
    with (folder / "mkdocs.yml").open("a") as file:
        file.write(f"extra:\n  {code}")
    output = sites.command(folder, "doctor").stdout
    assert "\nThe code of the file\n" in output
    before, _ = output.split("\nThe code of the file\n", 1)
    assert "MkDocs runs the code that mkdocs.yml names" in before
    assert "read a stranger's file" in before


def test_workflow_of_init_for_github_pages_judges_the_gold_set_strictly(tmp_path: Path) -> None:
    folder = write_plain_site(tmp_path)
    assert run(folder, "init", "--host", "github-pages").exit_code == 0
    workflow = yaml.safe_load((folder / ".github/workflows/docs.yml").read_text("utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["publish"]["steps"] if "run" in step]
    building = commands[1:-1]
    assert building == ["mkdocs build --strict", "answerable eval --full"]
    assert commands[-1] == "mkdocs gh-deploy --force --strict"
    for command in building:
        done = subprocess.run(
            [Path(sys.executable).with_name(command.split()[0]), *command.split()[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    # What the set says of the site has to hold.
    gold = folder / "eval" / "gold.yaml"
    gold.write_text(gold.read_text("utf-8").replace("not-found", "partial"), "utf-8")
    assert sites.command(folder, "eval", "--full").returncode == 1


@pytest.mark.parametrize("host", [host for host in HOSTS if not HOSTS[host].options])
@pytest.mark.parametrize("options", [{"widget": {"endpoint": "/ask/"}}, {"answers_in": "function"}])
def test_doctor_refuses_a_function_where_the_host_runs_none(
    tmp_path: Path, host: str, options: dict[str, Any]
) -> None:
    folder = sites.write_site(tmp_path, options=options)
    assert run(folder, "init", "--host", host).exit_code == 0
    result = run(folder, "doctor")
    assert f"✗ {HOSTS[host].path} publishes the site on " in result.output
    assert "set widget.endpoint to the function's address" in result.output
    assert result.exit_code == 1
    endpoint = {"widget": {"endpoint": "https://ask.example/"}}
    sites.write_site(folder, options=endpoint)
    assert f"✓ {HOSTS[host].path} builds the site" in run(folder, "doctor").output


def test_doctor_knows_a_host_that_hands_the_endpoint_to_a_function(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, options={"widget": {"endpoint": "/ask/"}})
    assert run(folder, "init", "--host", "netlify").exit_code == 0
    with (folder / "netlify.toml").open("a") as file:
        file.write('[[redirects]]\nfrom = "/ask/*"\nto = "https://ask.example/:splat"\n')
    assert "✓ netlify.toml builds the site" in run(folder, "doctor").output


def test_doctor_names_a_package_that_is_not_installed(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path, options={"answers": {"provider": "near"}})
    code = (
        "import answerable\n"
        "NEAR = answerable.Provider(('never-installed',), factory=lambda *_: None)\n"
    )
    points = {"near": "near_answers:NEAR"}
    registered_packages.install(tmp_path / "packages", "near-answers", code, "answerers", points)
    done = registered_packages.command(folder, tmp_path / "packages", "doctor")
    assert (
        "✗ answers.provider needs never-installed, which is not installed; run `pip install "
        "near-answers never-installed`" in done.stdout
    )
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "config", "message"),
    [
        (
            {"widget": {"endpoint": "https://ask.example/"}},
            {"site_url": ""},
            "✗ site_url is not set, so the function",
        ),
        ({"notebook": "notebook"}, {}, "✗ answers_in: `notebook` needs a function"),
        (
            {"notebook": "notebook", "answers_in": "browser"},
            {},
            "✗ answers_in: browser is impossible",
        ),
        ({"answers": {"provider": "openai"}}, {}, "✗ OPENAI_API_KEY is not set"),
        (
            {"answers": {"provider": "openai", "base_url": "http://192.168.0.9:11434/v1"}},
            {},
            "✓ no key is needed",
        ),
        (
            {
                "answers": {"provider": "openai", "base_url": "http://localhost:11434/v1"},
                "widget": {"endpoint": "https://ask.example/"},
            },
            {},
            "• answers.base_url: http://localhost:11434/v1 is this machine, and a function",
        ),
        (
            {"widget": {"endpoint": "http://ask.example/"}},
            {},
            "✗ widget.endpoint: browsers block http://ask.example/ on pages of",
        ),
        (
            {"widget": {"endpoint": "https://ask.example/"}},
            {},
            "• pages of https://harbour.example ask another host",
        ),
    ],
)
def test_doctor_names_the_problem_and_the_remedy(
    options: dict[str, Any],
    config: dict[str, Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    folder = sites.write_site(tmp_path, notes=sites.NOTES, options=options, **config)
    result = run(folder, "doctor")
    assert message in result.output
    assert result.exit_code == ("✗" in result.output)


@pytest.mark.parametrize(
    ("endpoint", "base_url", "package", "expected"),
    [
        ("/ask/", "http://127.0.0.1:11434/v1", False, False),
        ("http://localhost:8799/", "http://127.0.0.1:11434/v1", False, False),
        ("https://ask.example/", "https://models.example/v1", False, False),
        ("https://ask.example/", "http://127.0.0.1:11434/v1", False, True),
        ("/ask/", "http://[::1]:11434/v1", True, True),
    ],
)
def test_doctor_warns_of_a_model_here_where_the_function_leaves_this_machine(
    endpoint: str, base_url: str, package: bool, expected: bool, tmp_path: Path
) -> None:
    embedding = {"provider": "openai", "base_url": base_url}
    options = {"widget": {"endpoint": endpoint}, "embedding": embedding}
    folder = sites.write_site(tmp_path, options=options)
    if package:
        (folder / "package" / "docker").mkdir(parents=True)
        (folder / "package" / "docker" / "settings.json").write_text("{}", "utf-8")
    output = run(folder, "doctor").output
    assert (f"• embedding.base_url: {base_url} is this machine" in output) is expected


def test_doctor_breaks_its_lines_between_words_at_the_width_of_the_terminal(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    wide = run(folder, "doctor").output
    narrow = run(folder, "doctor", columns=80).output
    assert max(map(len, wide.splitlines())) > 80, wide
    words = [word for word in wide.split() if len(word) < 78]
    assert set(words) <= set(narrow.split())
    assert max(map(len, narrow.splitlines())) <= 80
