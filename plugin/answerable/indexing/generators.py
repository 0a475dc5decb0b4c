"""Generators of sites: whose a configuration file is, what it says of the site, and its command."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NoReturn

from yaml_env_tag import construct_env_tag

from ..engine.errors import SiteError
from .yaml_reader import AnyTagLoader, YamlError, parse_yaml

GeneratorName = Literal["mkdocs", "zensical", "sphinx", "other"]

# The file that holds the options where the generator's own has no place for them.
OPTIONS_FILE = "answerable.yml"
_MKDOCS_FILES = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml")
# Where `sphinx-quickstart` and custom put Sphinx's configuration.
_SPHINX_FILES = ("conf.py", "docs/conf.py", "docs/source/conf.py", "doc/conf.py", "source/conf.py")
_PLUGIN = "answerable"
# What a configuration says of a site, by MkDocs' names. `command` builds it in a shell.
_SETTINGS = (
    "site_name", "site_url", "site_author", "repo_url", "docs_dir", "site_dir", "command",
)  # fmt: skip


def name_build_command(config_file: Path) -> str:
    """Name the command that builds a site and makes it answerable."""
    if detect_generator(config_file) != "mkdocs":
        return "answerable build"
    return f"{'properdocs' if config_file.name.startswith('properdocs') else 'mkdocs'} build"


def normalize_path(path: Path) -> Path:
    """Make a path absolute without dots, and without following links, as a generator writes it."""
    # Path.absolute() keeps dots, and Path.resolve() follows links.
    return Path(os.path.abspath(path))  # noqa: PTH100


@dataclass(frozen=True, slots=True)
class Project:
    """Configuration of a site, of whatever generator.

    ``folder``: the one that its paths begin at. ``settings``: by the names that MkDocs gives them.
    ``options``: the plugin's, as they are written.
    """

    generator: GeneratorName
    file: Path
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def site_dir(self) -> Path:
        """Return the folder that the generator writes the site into."""
        return normalize_path(self.folder / self.settings["site_dir"])

    @property
    def has_generator(self) -> bool:
        """True if it is known what builds the site."""
        return self.generator != "other" or "command" in self.settings


def find_config_file(folder: Path = Path()) -> Path:
    """Find the configuration of the site in a folder, or mkdocs.yml where there is none.

    Of several, the first that names the plugin counts, since a site that moves from one generator
    to another keeps both files for a while.
    """
    names = (OPTIONS_FILE, "zensical.toml", *_MKDOCS_FILES, *_SPHINX_FILES)
    files = [path for name in names if (path := folder / name).is_file()]
    ours = (
        path for path in files if path.name == OPTIONS_FILE or _PLUGIN.encode() in path.read_bytes()
    )
    return next(ours, files[0] if files else folder / _MKDOCS_FILES[0])


def detect_generator(config_file: Path) -> GeneratorName:
    """Detect whose a configuration file is.

    Zensical reads a mkdocs.yml too: it is Zensical's where that is installed and MkDocs lacks the
    theme that the file names.
    """
    if config_file.name == "conf.py":
        return "sphinx"
    if config_file.suffix == ".toml":
        return "zensical"
    if config_file.name == OPTIONS_FILE:
        is_named = config_file.is_file() and _read_yaml(config_file).get("command")
        return "sphinx" if not is_named and _find_sphinx_file(config_file.parent) else "other"
    if find_spec("zensical") is None or not config_file.is_file():
        return "mkdocs"
    theme = _read_yaml(config_file).get("theme")
    name = theme.get("name", "mkdocs") if isinstance(theme, Mapping) else theme or "mkdocs"
    has_theme = name is None or name in {
        entry.name for entry in entry_points(group="mkdocs.themes")
    }
    return "mkdocs" if has_theme else "zensical"


def _find_sphinx_file(folder: Path) -> Path | None:
    return next((path for name in _SPHINX_FILES if (path := folder / name).is_file()), None)


def _describe_sphinx(conf: Path) -> tuple[Path, dict[str, str]]:
    """Find the folder of a project by Sphinx's file in it, and where its pages are and go."""
    source = folder = conf.absolute().parent
    while folder.name in ("source", "docs", "doc"):
        folder = folder.parent
    built = source.parent / "build" if source.name == "source" else source / "_build"
    return folder, {"docs_dir": str(source), "site_dir": str(built / "html")}


def read_project(config_file: Path) -> Project:
    """Read what a configuration says of a site, or raise SiteError if it cannot be read.

    A file that does not exist says nothing.
    """
    generator, folder = detect_generator(config_file), config_file.absolute().parent
    defaults = {} if generator == "other" else {"docs_dir": "docs"}
    if config_file.name == "conf.py":
        return Project(generator, config_file, *_describe_sphinx(config_file))
    if generator == "sphinx" and (conf := _find_sphinx_file(folder)):
        defaults = _describe_sphinx(conf)[1]
    data = _read_data(config_file) if config_file.is_file() else {}
    options = _find_options(data.get("plugins"), config_file)
    if config_file.name == OPTIONS_FILE:
        options = {name: value for name, value in data.items() if name not in _SETTINGS}
    own = {name: data[name] for name in _SETTINGS if data.get(name) is not None}
    settings = {"site_dir": "site", **defaults, **own}
    return Project(generator, config_file, folder, settings, options)


def run_generator(
    project: Project, command: str | None = None, *, strict: bool = False, to_stderr: bool = False
) -> None:
    """Run the generator of a site in its folder, or raise SiteError if it fails or is absent.

    command: for a shell, in place of the generator's own. strict: a warning fails the build.
    to_stderr: what it prints goes there, since standard output is a command's result.
    """
    line = command or project.settings.get("command") or _list_arguments(project, strict)
    if project.generator == "sphinx":
        # Sphinx keeps the words of its last search index, also those of a leak that was corrected,
        # even where it reads every page anew (-E).
        (project.site_dir / "searchindex.js").unlink(missing_ok=True)
    # What is installed beside this Python is found without its environment being activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()])
    done = subprocess.run(
        line,
        cwd=project.folder,
        shell=isinstance(line, str),
        env={**os.environ, "PATH": path},
        stdout=sys.__stderr__ if to_stderr else None,
        check=False,
    )
    if done.returncode:
        shown = line if isinstance(line, str) else " ".join(line[line.index("-m") + 1 :])
        raise SiteError(
            f"`{shown}` has failed with the exit status {done.returncode}; correct what it says, "
            "and build again"
        )


def serve_by_mkdocs(project: Project, address: str) -> NoReturn:
    """Become the server of MkDocs, whose plugin does the rest, at a host and port."""
    line = [*_list_mkdocs_command(project), "serve", "-f", str(project.file), "-a", address]
    sys.stdout.flush()
    os.execv(line[0], line)


def _list_mkdocs_command(project: Project) -> list[str]:
    name = "properdocs" if project.file.name.startswith("properdocs") else "mkdocs"
    return [sys.executable, "-P", "-m", name]


def _list_arguments(project: Project, strict: bool) -> list[str]:
    """List the arguments of the generator's own command, or raise SiteError without one."""
    python = [sys.executable, "-P", "-m"]
    built = ["build", "-f", str(project.file.absolute()), *(["--strict"] if strict else [])]
    if project.generator == "other":
        raise SiteError(
            f"{project.file}: nothing says how the site is built; set `command` there, or name it "
            "with --command"
        )
    if project.generator == "mkdocs":
        return [*_list_mkdocs_command(project), *built]
    if find_spec(project.generator) is None:
        raise SiteError(
            f"{project.file}: {project.generator} builds this site, and is not installed beside "
            f"answerable; run `pip install {project.generator}`, or name a command with --command"
        )
    if project.generator == "zensical":
        return [*python, "zensical", *built]
    # Beside the pages, since its own place for them is among the published files.
    doctrees = ["-d", str(project.site_dir.parent / "doctrees")]
    sources = normalize_path(project.folder / project.settings["docs_dir"])
    folders = [str(sources), str(project.site_dir)]
    # All pages are written, so that none keeps an ask box of earlier options.
    return [*python, "sphinx", "-q", "-a", *(["-W"] if strict else []), *doctrees, *folders]


class _ConfigLoader(AnyTagLoader):
    """Loader of MkDocs' configuration, whose own reader of the environment's variables it has."""


_ConfigLoader.add_constructor("!ENV", construct_env_tag)


def _read_data(config_file: Path) -> Mapping[str, Any]:
    if config_file.suffix != ".toml":
        return _read_yaml(config_file)
    try:
        data = tomllib.loads(config_file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteError(f"{config_file} is not TOML ({error}); correct it") from None
    # As Zensical reads it.
    project = data.get("project", data)
    return project if isinstance(project, dict) else {}


def _read_yaml(config_file: Path) -> Mapping[str, Any]:
    try:
        data = parse_yaml(config_file.read_text(encoding="utf-8"), loader_class=_ConfigLoader)
    except (YamlError, UnicodeDecodeError) as error:
        raise SiteError(f"{config_file} is not YAML ({error}); correct it") from None
    if not isinstance(data, dict | None):
        raise SiteError(f"{config_file} holds no options; write at least `site_dir: site`")
    inherited = config_file.parent / str((data or {}).get("INHERIT") or "")
    parent = _read_yaml(inherited) if inherited.is_file() else {}
    return {**parent, **(data or {})}


def _find_options(plugins: object, config_file: Path) -> Mapping[str, Any]:
    """Find the plugin's options in a table of plugins, or a list of names and tables."""
    tables = [plugins] if isinstance(plugins, Mapping) else plugins
    for table in tables if isinstance(tables, list) else ():
        options = table.get(_PLUGIN) if isinstance(table, Mapping) else None
        if isinstance(options, Mapping):
            return options
        if options is not None:
            raise SiteError(
                f"{config_file}: plugins: {_PLUGIN}: {options!r:.80} is no table of options; "
                f"write [project.plugins.{_PLUGIN}] and the options below it"
            )
    return {}
