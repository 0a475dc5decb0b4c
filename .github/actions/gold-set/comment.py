"""Write a file as the one comment of this action on a pull request, over the last one if any.

What it needs is in the environment: GITHUB_API_URL and GITHUB_REPOSITORY, which GitHub sets, and
TOKEN, PULL_REQUEST and CONFIG, which the action sets. A comment that cannot be written is a
warning: the token of a pull request from a fork may only read.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

_PAGE_SIZE = 100
_TIMEOUT_S = 30


def write_comment(body: str, environment: Mapping[str, str]) -> None:
    """Write the comment. OSError if the API cannot be reached or refuses."""
    # A site is known by its configuration, since a repository can hold several.
    marker = f"<!-- answerable gold set: {quote(environment['CONFIG'])} -->"
    repository = f"/repos/{environment['GITHUB_REPOSITORY']}"
    thread = f"{repository}/issues/{environment['PULL_REQUEST']}/comments"
    author = _find_own_login(environment)
    for comment in _list_comments(thread, environment):
        # Whoever else begins a comment with the marker could change ours afterwards.
        is_own = comment["user"]["login"] == author if author else comment["user"]["type"] == "Bot"
        if is_own and comment["body"].startswith(marker):
            path, method = f"{repository}/issues/comments/{comment['id']}", "PATCH"
            break
    else:
        path, method = thread, "POST"
    _call_api(path, environment, method, {"body": f"{marker}\n{body}"})


def _find_own_login(environment: Mapping[str, str]) -> str | None:
    """Find whose token it is; None for the token of a workflow, which is that of a bot."""
    try:
        return str(_call_api("/user", environment)["login"])
    except urllib.error.HTTPError:
        return None


def _list_comments(thread: str, environment: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    number, comments = 1, [None] * _PAGE_SIZE
    while len(comments) == _PAGE_SIZE:
        comments = _call_api(f"{thread}?per_page={_PAGE_SIZE}&page={number}", environment)
        yield from comments
        number += 1


def _call_api(
    path: str, environment: Mapping[str, str], method: str = "GET", body: object = None
) -> Any:
    request = urllib.request.Request(
        f"{environment['GITHUB_API_URL']}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {environment['TOKEN']}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
        return json.load(response)


if __name__ == "__main__":
    try:
        write_comment(Path(sys.argv[1]).read_text("utf-8"), os.environ)
    except (OSError, ValueError) as error:
        sys.stdout.write(
            f"::warning title=No comment::The comment was not written ({error}). Give the job the "
            "permission `pull-requests: write`; a pull request from a fork has none.\n"
        )
