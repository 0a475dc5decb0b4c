"""List hosts: the file that publishes a site there, with or without a function; what remains."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, get_args

HostName = Literal[
    "github-pages",
    "read-the-docs",
    "cloudflare-pages",
    "netlify",
    "gitlab-pages",
    "github-pages-and-vercel",
]
HOST_NAMES: tuple[HostName, ...] = get_args(HostName)


@dataclass(frozen=True, slots=True)
class Host:
    """Describe a host. ``path``: of its file in the repository; ``template``: of that file here.

    ``address``: the form of the sites' addresses there.
    """

    name: HostName
    title: str
    path: str
    template: str
    address: str

    @property
    def steps(self) -> tuple[str, ...]:
        """List what remains to be done once, by hand, after the file is committed."""
        return tuple(_read_template(f"{self.name}.steps.txt").splitlines())


HOSTS: Mapping[HostName, Host] = {
    host.name: host
    for host in (
        Host(
            "github-pages",
            "GitHub Pages",
            ".github/workflows/docs.yml",
            "github-pages.yml",
            "https://OWNER.github.io/REPOSITORY/",
        ),
        Host(
            "read-the-docs",
            "Read the Docs",
            ".readthedocs.yaml",
            "read-the-docs.yaml",
            "https://PROJECT.readthedocs.io/en/latest/",
        ),
        Host(
            "cloudflare-pages",
            "Cloudflare Pages",
            ".github/workflows/docs.yml",
            "cloudflare-pages.yml",
            "https://PROJECT.pages.dev/",
        ),
        Host(
            "netlify",
            "Netlify",
            "netlify.toml",
            "netlify.toml",
            "https://PROJECT.netlify.app/",
        ),
        Host(
            "gitlab-pages",
            "GitLab Pages",
            ".gitlab-ci.yml",
            "gitlab-pages.yml",
            "https://GROUP.gitlab.io/PROJECT/",
        ),
        Host(
            "github-pages-and-vercel",
            "GitHub Pages, with a function on Vercel",
            ".github/workflows/docs.yml",
            "github-pages-vercel.yml",
            "https://OWNER.github.io/REPOSITORY/",
        ),
    )
}


def format_host_file(host: Host, packages: str) -> str:
    """Format a host's file. packages: what pip installs, as on its command line."""
    return _read_template(host.template).replace("PACKAGES", packages)


def _read_template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")
