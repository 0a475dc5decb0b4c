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

_PACKAGES_FIELD = "PACKAGES"


@dataclass(frozen=True, slots=True)
class Host:
    """Describe a host. ``path``: of its file in the repository; ``template``: of that file here.

    ``steps``: what remains to be done once, by hand, after the file is committed. ``address``: the
    form of the sites' addresses there.
    """

    name: HostName
    title: str
    path: str
    template: str
    steps: tuple[str, ...]
    address: str


HOSTS: Mapping[HostName, Host] = {
    host.name: host
    for host in (
        Host(
            "github-pages",
            "GitHub Pages",
            ".github/workflows/docs.yml",
            "github-pages.yml",
            (
                "Commit the files, push them, and wait for the workflow under Actions to end.",
                "Under Settings, Pages, choose the branch gh-pages as the source, once.",
            ),
            "https://OWNER.github.io/REPOSITORY/",
        ),
        Host(
            "read-the-docs",
            "Read the Docs",
            ".readthedocs.yaml",
            "read-the-docs.yaml",
            (
                "Commit the files and push them.",
                "Import the repository on https://app.readthedocs.org/dashboard/import/, once.",
            ),
            "https://PROJECT.readthedocs.io/en/latest/",
        ),
        Host(
            "cloudflare-pages",
            "Cloudflare Pages",
            ".github/workflows/docs.yml",
            "cloudflare-pages.yml",
            (
                "Make a project: npx wrangler pages project create PROJECT",
                "Put CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID and the project's name as "
                "CLOUDFLARE_PROJECT into the repository's secrets.",
                "Commit the files, push them, and wait for the workflow under Actions to end.",
            ),
            "https://PROJECT.pages.dev/",
        ),
        Host(
            "netlify",
            "Netlify",
            "netlify.toml",
            "netlify.toml",
            (
                "Commit the files and push them.",
                "Import the repository on https://app.netlify.com/start, once; it reads the file.",
            ),
            "https://PROJECT.netlify.app/",
        ),
        Host(
            "gitlab-pages",
            "GitLab Pages",
            ".gitlab-ci.yml",
            "gitlab-pages.yml",
            ("Commit the files, push them, and wait for the pipeline to end.",),
            "https://GROUP.gitlab.io/PROJECT/",
        ),
        Host(
            "github-pages-and-vercel",
            "GitHub Pages, with a function on Vercel",
            ".github/workflows/docs.yml",
            "github-pages-vercel.yml",
            (
                "Make the function's project, once: mkdocs build && answerable package --target "
                "vercel && npx vercel link --cwd package/vercel",
                "Put orgId and projectId of package/vercel/.vercel/project.json as VERCEL_ORG_ID "
                "and VERCEL_PROJECT_ID into the repository's secrets, a token of "
                "https://vercel.com/account/tokens as VERCEL_TOKEN, and your OPENAI_API_KEY if the "
                "site uses OpenAI.",
                "Write the project's address into mkdocs.yml: widget.endpoint: "
                "https://PROJECT.vercel.app/",
                "Commit the files, push them, and wait for the workflow under Actions to end.",
                "Under Settings, Pages, choose the branch gh-pages as the source, once.",
            ),
            "https://OWNER.github.io/REPOSITORY/",
        ),
    )
}


def format_host_file(host: Host, packages: str) -> str:
    """Format a host's file. packages: what pip installs, as on its command line."""
    template = files(__package__) / "templates" / host.template
    return template.read_text(encoding="utf-8").replace(_PACKAGES_FIELD, packages)
