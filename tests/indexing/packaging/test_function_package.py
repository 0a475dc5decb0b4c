"""A function packaged for a platform: complete, small, without secrets, and it answers."""

import ast
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from answerable.cli.package import package_function
from answerable.indexing.packaging import platforms
from answerable.indexing.packaging.package_writer import (
    FunctionPackage,
    PackageOrder,
    read_function_contents,
    remove_package_leftovers,
    write_marker,
    write_package,
    write_zip,
)
from answerable.indexing.packaging.packages import (
    PACKAGE_EXTRAS,
    compile_bytecode,
    find_older_versions,
    format_lock,
    install_wheels,
    resolve_packages,
)
from answerable.indexing.packaging.platforms import (
    PLATFORM_NAMES,
    PLATFORMS,
    Architecture,
    Machine,
    PlatformName,
    SizeLimit,
    choose_machine,
    list_deploy_commands,
    render_entry_files,
)
from answerable.serve.bundle_format.manifest import compute_bundle_id, read_manifest
from answerable.serve.errors import BundleError, SiteError
from answerable.serve.http.adapters import asgi, aws_lambda, google
from support.deadlines import PATIENCE
from support.sites import NOTES, ROOT, build, command, put, write_site
from support.wheelhouse import wheel

ARCHITECTURE: Architecture = "arm64" if platform.machine() in ("aarch64", "arm64") else "x86_64"
HERE = Machine(sys.version_info[:2], ARCHITECTURE, 35)
PYTHON = HERE.version
OTHER = Machine((3, 13), "arm64", 34)
# What is in a function's folder and must be in no package.
PLANTED = (
    ".env",
    "notes.md",
    "id_rsa",
    "bundle/old.npy",
    "bundle/.env",
    "model/key.pem",
    "answerable/serve/.env",
    "answerable/serve/__pycache__/main.cpython-39.pyc",
    "notebook/winch.md",
    ".cache/audit.sqlite3",
)
ASK = """
import json, os, sys
sys.path.insert(0, os.getcwd())
from lambda_function import handler
http = {"method": "POST", "sourceIp": "203.0.113.9"}
body = json.dumps({"question": "How thick is the chain of a mooring?"})
headers = {"content-type": "application/json"}
event = {"version": "2.0", "rawPath": "/answer", "headers": headers, "body": body}
event["requestContext"] = {"http": http, "stage": "$default"}
answer = handler(event, None)
import numpy
print(json.dumps([answer, numpy.__file__, sys.modules["answerable.serve"].__cached__]))
"""


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built function folder, with files in it that are none of its own."""
    folder = tmp_path_factory.mktemp("site")
    done = build(write_site(folder, notes=NOTES))
    assert done.returncode == 0, done.stderr
    for name in PLANTED:
        put(folder / "function" / name, "OPENAI_API_KEY=sk-planted-secret")
    return folder / "function"


@pytest.fixture
def copy(function: Path, tmp_path: Path) -> Path:
    """A function folder that a test may spoil."""
    return Path(shutil.copytree(function, tmp_path / "copy" / "function"))


@pytest.fixture(scope="module")
def real(function: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The package for AWS Lambda of this machine's Python, and what was printed."""
    out = tmp_path_factory.mktemp("real") / "package"
    args = ("--target", "aws-lambda", "--arch", ARCHITECTURE, "--python", PYTHON)
    done = command(function.parent, "package", *args, "--out", str(out))
    if "cannot reach the package index" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.fixture(scope="module")
def index(function: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that uv takes its packages from, with small ones for all that a function needs."""
    folder = tmp_path_factory.mktemp("wheels")
    for line in (function / "requirements.txt").read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        wheel(folder, name, version)
    wheel(folder, "functions-framework", "3.9")
    wheel(folder, "azure-functions", "1.24")
    wheel(folder, "uvicorn", "0.40")
    wheel(folder, "redis", "7.0")
    with pytest.MonkeyPatch.context() as patch:
        serve_from(folder, patch)
        yield folder


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that uv takes its packages from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    serve_from(folder, monkeypatch)
    return folder


def serve_from(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(folder))


@pytest.fixture(scope="module")
def packages(
    function: Path, index: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, FunctionPackage]]:
    """Every target's package, of small wheels: its folder, and what was said of it.

    They are written with a umask that keeps other users from everything.
    """
    assert index.is_dir()
    folder = tmp_path_factory.mktemp("packages")
    before = os.umask(0o077)
    try:
        return {
            name: (folder / name, write_package(order(function, folder / name, name, "redis")))
            for name in PLATFORM_NAMES
        }
    finally:
        os.umask(before)


def order(function: Path, out: Path, target: PlatformName, *extras: str) -> PackageOrder:
    platform_ = PLATFORMS[target]
    return PackageOrder(platform_, choose_machine(platform_, None, "3.13"), function, out, extras)


def names_in(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_a_real_zip_answers_from_an_empty_folder(real: tuple[Path, str], tmp_path: Path) -> None:
    with zipfile.ZipFile(real[0] / "function.zip") as archived:
        archived.extractall(tmp_path)
    # Without `site` there are no packages but those of the folder.
    command_ = [sys.executable, "-I", "-S", "-c", ASK]
    done = subprocess.run(
        command_,
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer, numpy, cached = json.loads(done.stdout.splitlines()[-1])
    body = json.loads(answer["body"])
    assert answer["statusCode"] == 200
    assert body["claims"][0]["text"] == "The chain of a mooring is twelve millimetres thick."
    assert Path(numpy).is_relative_to(tmp_path.resolve())
    # Its second four bytes say that Python need not check it against its code.
    assert Path(cached).read_bytes()[4:8] == b"\x01\x00\x00\x00"


def test_a_real_zip_is_within_the_limits_and_says_how_to_deploy_it(
    real: tuple[Path, str],
) -> None:
    out, printed = real
    size = (out / "function.zip").stat().st_size
    assert size <= PLATFORMS["aws-lambda"].limits[0].bytes
    assert f"{size / platforms.MEGABYTE:.1f}" in printed
    assert f"Bytecode for Python {PYTHON} is in it." in printed
    commands = [line for line in printed.splitlines() if line.startswith("  aws lambda ")]
    assert len(commands) == 3
    assert f"--runtime python{PYTHON} --architectures {ARCHITECTURE}" in commands[0]
    remaining = printed.partition("Then, once:\n")[2]
    assert [line.split()[0] for line in remaining.splitlines()] == ["1.", "2.", "3."]
    assert "widget.endpoint: https://ADDRESS/" in remaining
    assert "publish it again" in remaining
    assert "/health, then answerable doctor" in remaining


def test_a_real_zip_holds_no_secret_and_nothing_that_never_runs(real: tuple[Path, str]) -> None:
    with zipfile.ZipFile(real[0] / "function.zip") as archived:
        names = archived.namelist()
        text = b"".join(archived.read(n) for n in names if not n.endswith((".so", ".pyc")))
    assert "lambda_function.py" in names
    assert b"sk-planted-secret" not in text
    assert b"scrapped tractor" not in text
    tops = {name.partition("/")[0] for name in names}
    assert tops.isdisjoint({"bin", "huggingface_hub", "pip", "main.py", ".env", "notebook"})
    assert not [n for n in names if "/tests/" in n or n.endswith((".pyi", "/RECORD", ".env"))]
    assert [n for n in names if n.startswith("numpy") and "LICENSE" in n]


def test_a_real_lock_names_one_hash_for_each_package(real: tuple[Path, str]) -> None:
    lines = (real[0] / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {line.partition("==")[0] for line in lines} > {"numpy", "limits"}
    assert all(line.count(" --hash=sha256:") == 1 for line in lines)


@pytest.mark.parametrize("target", PLATFORM_NAMES)
def test_every_target_gets_its_own_files_and_no_others(
    target: PlatformName, packages: dict[str, tuple[Path, FunctionPackage]], tmp_path: Path
) -> None:
    out, package = packages[target]
    names = names_in(out)
    if target == "aws-lambda":
        shutil.unpack_archive(out / "function.zip", tmp_path)
        names |= names_in(tmp_path)
    place = f"{PLATFORMS[target].folder}/".removeprefix("./")
    for name in ("settings.json", "bundle/manifest.json", "model/LICENSE"):
        assert place + name in names
    assert f"{place}answerable/serve/http/adapters/{PLATFORMS[target].adapter}.py" in names
    assert set(render_entry_files(PLATFORMS[target], OTHER)) < names
    assert not [n for n in names if n.removeprefix(place) in PLANTED]
    locked = {pin.name for pin in package.pins}
    assert {"numpy", "redis", "limits"} <= locked
    assert locked.isdisjoint({"huggingface-hub", "tokenizers", "wordllama"})
    text = (out / "requirements.txt").read_text(encoding="utf-8")
    assert text == format_lock(package.pins).decode()
    assert {path.name for path in out.parent.iterdir()} == set(PLATFORM_NAMES)


@pytest.mark.parametrize("target", PLATFORM_NAMES)
def test_a_package_has_the_modes_that_its_platform_needs_and_is_private_here(
    target: PlatformName, packages: dict[str, tuple[Path, FunctionPackage]]
) -> None:
    out, _ = packages[target]
    modes = {
        path.relative_to(out).as_posix(): (stat.S_IMODE(path.stat().st_mode), path.is_dir())
        for path in (out, *out.rglob("*"))
    }
    assert modes.pop(".") == (0o700, True)
    if target == "aws-lambda":
        assert modes.pop("function.zip") == (0o600, False)
        with zipfile.ZipFile(out / "function.zip") as archived:
            archived_files = archived.infolist()
        assert "bundle/manifest.json" in {entry.filename for entry in archived_files}
        assert {entry.external_attr >> 16 for entry in archived_files} == {0o100644}
    else:
        place = f"{PLATFORMS[target].folder}/".removeprefix("./")
        assert f"{place}bundle/manifest.json" in modes
    assert set(modes.values()) <= {(0o755, True), (0o644, False)}


def test_the_entry_points_name_what_the_adapters_have() -> None:
    factories = {
        aws_lambda.__name__: "open_lambda_handler",
        google.__name__: "open_google_view",
        asgi.__name__: "open_asgi_app",
    }
    for target in PLATFORMS.values():
        code = [t for n, t in render_entry_files(target, OTHER).items() if n.endswith(".py")]
        (tree,) = map(ast.parse, code)
        imported = {
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        called = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        module = f"answerable.serve.http.adapters.{target.adapter}"
        assert (module, factories[module]) in imported
        assert factories[module] in called
        assert hasattr(sys.modules[module], factories[module])


def test_vercel_publishes_no_file_of_the_function() -> None:
    files = render_entry_files(PLATFORMS["vercel"], OTHER)
    config = json.loads(files["vercel.json"])
    # Without an output directory every file of the project would be a page, the vectors too.
    assert config["outputDirectory"] == "public"
    assert [name for name in files if name.startswith("public/")] == ["public/robots.txt"]
    assert files[".python-version"] == b"3.13\n"


def test_azure_answers_at_the_root() -> None:
    host = json.loads(render_entry_files(PLATFORMS["azure"], OTHER)["host.json"])
    assert host["extensions"]["http"]["routePrefix"] == ""


def test_the_image_runs_without_rights_and_checks_its_health() -> None:
    files = render_entry_files(PLATFORMS["container"], OTHER)
    lines = files["Dockerfile"].decode().splitlines()
    assert lines[0] == "FROM python:3.13-slim"
    assert "USER 10001" in lines
    assert lines.index("USER 10001") < next(n for n, x in enumerate(lines) if x.startswith("CMD"))
    assert "/health" in files["Dockerfile"].decode().partition("HEALTHCHECK")[2]
    assert "--require-hashes" in files["Dockerfile"].decode()
    assert files[".dockerignore"].decode().splitlines()[0] == "*"


@pytest.mark.parametrize("target", PLATFORM_NAMES)
def test_each_platform_has_three_deploy_commands(target: PlatformName) -> None:
    machine = choose_machine(PLATFORMS[target], None, "3.13")
    commands = list_deploy_commands(PLATFORMS[target], machine, Path("a folder"))
    assert len(commands) == 3
    assert any("a folder" in each and "'" in each for each in commands)


def test_a_container_gets_the_key_from_the_environment_of_the_shell() -> None:
    machine = choose_machine(PLATFORMS["container"], None, "3.13")
    for keys, passed in (((), ""), (("OPENAI_API_KEY",), " --env OPENAI_API_KEY")):
        commands = list_deploy_commands(PLATFORMS["container"], machine, Path("package"), keys)
        assert commands[1].endswith(f" -p 8000:8000{passed} answerable")


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name: [text] for name, text in PACKAGE_EXTRAS.items()} == {
        name: project["optional-dependencies"][name] for name in PACKAGE_EXTRAS
    }


@pytest.mark.parametrize(
    ("target", "architecture", "python", "message"),
    [
        ("vercel", None, "3.11", "vercel needs Python 3.12"),
        ("container", None, "3.10", "container needs Python 3.11"),
        ("google", "arm64", "3.13", "google does not run arm64; choose x86_64"),
        ("azure", None, "2.7", "'2.7' is not a version of Python 3"),
        ("azure", None, "3", "'3' is not a version of Python 3"),
        ("azure", None, "3.13.1", "'3.13.1' is not a version of Python 3"),
    ],
)
def test_a_machine_that_the_platform_lacks_is_refused(
    target: PlatformName, architecture: Architecture | None, python: str, message: str
) -> None:
    with pytest.raises(SiteError, match=message):
        choose_machine(PLATFORMS[target], architecture, python)


def test_an_older_amazon_linux_gets_older_wheels() -> None:
    tags = {
        python: choose_machine(PLATFORMS["aws-lambda"], None, python).platforms
        for python in ("3.11", "3.13")
    }
    assert tags["3.11"][0] == "manylinux_2_26_aarch64"
    assert tags["3.13"][0] == "manylinux_2_34_aarch64"
    assert "manylinux_2_28_aarch64" not in tags["3.11"]


def test_markers_are_those_of_the_machine_that_the_package_is_for(wheels: Path) -> None:
    wheel(
        wheels,
        "root",
        requires=[
            "on-arm; platform_machine == 'aarch64'",
            "on-windows; sys_platform == 'win32'",
            "on-old; python_version < '3.12'",
            "with-extra; extra == 'more'",
        ],
        extras=["more"],
    )
    for name in ("on-arm", "on-windows", "on-old", "with-extra"):
        wheel(wheels, name)
    assert [pin.name for pin in resolve_packages(["root"], OTHER)] == ["on-arm", "root"]
    older = Machine((3, 11), "x86_64", 26)
    pins = resolve_packages(["root[more]"], older)
    assert [pin.name for pin in pins] == ["on-old", "root", "with-extra"]


def test_all_specifiers_of_a_version_are_combined(wheels: Path) -> None:
    wheel(wheels, "top", requires=["left", "right"])
    wheel(wheels, "left", requires=["base>=2"])
    wheel(wheels, "right", requires=["base<4"])
    for version in ("1.0", "3.0", "4.0"):
        wheel(wheels, "base", version)
    assert "base==3.0" in format_lock(resolve_packages(["top"], OTHER)).decode()


def test_dependencies_of_a_replaced_version_are_dropped(wheels: Path) -> None:
    wheel(wheels, "top", requires=["first", "second"])
    wheel(wheels, "first", "2.0", requires=["heavy"])
    wheel(wheels, "first", "1.0")
    wheel(wheels, "second", requires=["first<2"])
    wheel(wheels, "heavy")
    names = [pin.name for pin in resolve_packages(["top"], OTHER)]
    assert names == ["first", "second", "top"]


def test_an_older_numpy_stands_in_where_the_pinned_one_has_no_wheel(wheels: Path) -> None:
    wheel(wheels, "numpy", "2.9", tag="cp313-cp313-manylinux_2_40_aarch64")
    wheel(wheels, "numpy", "2.2", tag="cp313-cp313-manylinux_2_17_aarch64")
    pins = resolve_packages(["numpy==2.9"], OTHER)
    assert pins[0].version == "2.2"
    assert find_older_versions(["numpy==2.9"], pins) == (("numpy", "2.9", "2.2"),)


def test_no_wheel_for_the_machine_is_one_sentence(wheels: Path) -> None:
    wheel(wheels, "narrow", tag="cp312-cp312-manylinux_2_17_x86_64")
    with pytest.raises(SiteError) as caught:
        resolve_packages(["narrow==1.0"], OTHER)
    assert str(caught.value) == (
        "uv finds no wheel of narrow==1.0 for Python 3.13 on Linux aarch64 with glibc 2.34; "
        "choose another --python or --arch, or check that the package index is the right one"
    )


def test_an_unreachable_package_index_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:planted-password@127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SiteError) as caught:
        resolve_packages(["numpy"], OTHER)
    assert str(caught.value) == "uv cannot reach the package index; check the network and try again"


def test_a_package_that_changed_since_is_refused(wheels: Path, tmp_path: Path) -> None:
    wheel(wheels, "redis", "7.0")
    lock = tmp_path / "lock.txt"
    lock.write_bytes(format_lock(resolve_packages(["redis"], OTHER)))
    wheel(wheels, "redis", "7.0", requires=["something-else"])
    with pytest.raises(SiteError, match="a package is not the one that was resolved"):
        install_wheels(lock, OTHER, tmp_path / "unpacked")


def test_a_package_above_a_size_limit_ends_with_its_remedy(
    function: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert index.is_dir()
    package_order = order(function, tmp_path / "out", "vercel")
    small = replace(
        package_order.target, limits=(SizeLimit("unpacked", 1_048_576, "use another platform"),)
    )
    assert not package_function(replace(package_order, target=small))
    assert "MB unpacked is more than 1.0 MB: use another platform" in capsys.readouterr().err


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    for folder, names in (("one", ("b.py", "a/c.txt")), ("two", ("a/c.txt", "b.py"))):
        for name in names:
            put(tmp_path / folder / name, f"text of {name}")
        write_zip(tmp_path / folder, tmp_path / f"{folder}.zip")
        os.utime(tmp_path / folder / "b.py", (1, 1))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archived:
        assert {entry.external_attr >> 16 for entry in archived.infolist()} == {0o100644}


def test_the_same_code_makes_the_same_bytecode(function: Path, tmp_path: Path) -> None:
    bytecode_by_name = []
    for name in ("one", "two"):
        folder = tmp_path / name
        for inner in ("engine.py", "types.py"):
            put(folder / inner, (function / "answerable" / "serve" / inner).read_text("utf-8"))
        assert compile_bytecode(folder, folder, HERE)
        bytecode_by_name.append({p.name: p.read_bytes() for p in folder.rglob("*.pyc")})
    assert len(bytecode_by_name[0]) == 2
    assert bytecode_by_name[0] == bytecode_by_name[1]
    assert str(tmp_path).encode() not in b"".join(bytecode_by_name[0].values())


def test_a_python_that_is_not_installed_makes_no_bytecode(tmp_path: Path) -> None:
    put(tmp_path / "a.py", "x = 1\n")
    assert not compile_bytecode(tmp_path, tmp_path, Machine((3, 99), "arm64", 34))
    assert names_in(tmp_path) == {"a.py"}


def test_foreign_files_are_kept_when_a_package_is_rewritten(
    function: Path, packages: dict[str, tuple[Path, FunctionPackage]], tmp_path: Path
) -> None:
    out = Path(shutil.copytree(packages["vercel"][0], tmp_path / "out"))
    before = names_in(out)
    put(out / ".vercel" / "project.json", "{}")
    put(out / "answerable" / "__pycache__" / "x.pyc", "stale")
    put(out / "vercel.json", "edited")
    write_package(order(function, out, "vercel", "redis"))
    assert names_in(out) == before | {".vercel/project.json"}
    assert json.loads((out / "vercel.json").read_text(encoding="utf-8"))["rewrites"]


def test_an_out_folder_with_foreign_files_is_refused(function: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    put(out / "thesis.txt", "years of work")
    with pytest.raises(SiteError, match="holds files that are not of a package"):
        write_package(order(function, out, "vercel"))
    write_marker(out, "google")
    with pytest.raises(SiteError, match="holds the package for google"):
        write_package(order(function, out, "vercel"))
    for inner in (function / "package", function.parent):
        with pytest.raises(SiteError, match="--out"):
            write_package(order(function, inner, "vercel"))
    assert (out / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_failure_leaves_the_last_package(
    function: Path, wheels: Path, packages: dict[str, tuple[Path, FunctionPackage]], tmp_path: Path
) -> None:
    out = Path(shutil.copytree(packages["container"][0], tmp_path / "out"))
    before = {name: (out / name).read_bytes() for name in names_in(out)}
    with pytest.raises(SiteError, match="uv finds no wheel of"):
        write_package(order(function, out, "container"))
    assert {name: (out / name).read_bytes() for name in names_in(out)} == before
    assert {path.name for path in tmp_path.iterdir()} == {out.name, wheels.name}


def test_leftovers_of_a_killed_packaging_are_removed(tmp_path: Path) -> None:
    ours = tmp_path / f".out.{'0' * 32}.tmp"
    theirs = tmp_path / f".other.{'0' * 32}.tmp"
    for folder in (ours, theirs):
        put(folder / "file", "text")
    remove_package_leftovers(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [theirs.name]


def test_a_folder_that_is_no_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="is not a function folder"):
        read_function_contents(tmp_path, "asgi")


def test_a_function_of_an_earlier_version_is_refused(copy: Path) -> None:
    (copy / "answerable" / "serve" / "http" / "adapters" / "asgi.py").unlink()
    with pytest.raises(SiteError, match=r"asgi\.py is missing: run `answerable build` again"):
        read_function_contents(copy, "asgi")


def test_a_function_whose_embedder_is_unknown_is_refused(copy: Path) -> None:
    manifest = read_manifest(copy / "bundle")
    identity = replace(manifest.identity, provider="psychic")
    bundle_id = compute_bundle_id(identity, manifest.profile, manifest.dimensions, manifest.files)
    later = replace(manifest, identity=identity, id=bundle_id)
    put(copy / "bundle" / "manifest.json", json.dumps(later.as_json()))
    with pytest.raises(SiteError, match="'psychic' is unknown to this version: upgrade"):
        read_function_contents(copy, "asgi")


def test_a_damaged_bundle_is_refused(copy: Path) -> None:
    path = next((copy / "bundle").glob("texts*"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(BundleError, match="does not match its hash"):
        read_function_contents(copy, "asgi")


def test_a_password_in_an_address_is_refused(copy: Path) -> None:
    path = copy / "settings.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["base_url"] = "https://user:planted-password@models.example/v1"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(SiteError, match="base_url holds a user name or a password") as caught:
        read_function_contents(copy, "asgi")
    assert "planted-password" not in str(caught.value)


def test_a_package_in_a_published_folder_is_refused(function: Path) -> None:
    site = function.parent
    for inner in ("docs/package", "site/package"):
        done = command(site, "package", "--target", "azure", "--out", str(site / inner))
        assert done.returncode == 1
        assert "which is published; choose a folder outside it" in done.stderr
        assert not (site / inner).exists()
