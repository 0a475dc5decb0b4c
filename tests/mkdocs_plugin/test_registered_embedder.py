"""Builds with an embedder that a package registers: its floors, its versions and its errors."""

import json
from pathlib import Path
from typing import Any

from support import registered_packages, sites
from support.registered_packages import build

LETTERS = """
import numpy as np

from answerable import EmbedderIdentity, FunctionSettings, Profile, Provider


class Letters:
    max_question_tokens = 0

    def __init__(self, identity: EmbedderIdentity) -> None:
        self.identity = identity

    def embed(self, texts):
        rows = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts):
            for letter in text:
                row[ord(letter) % len(row)] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def word_rank(self, word):
        return None


def make(identity: EmbedderIdentity, settings: FunctionSettings) -> Letters:
    return Letters(identity)


PROVIDER = Provider(factory=make)
"""
OWN_PROFILE = LETTERS.replace(
    "Provider(factory=make)", "Provider(factory=make, profile=Profile(floor=0.5, note_floor=0.6))"
)
FAILING = LETTERS.replace(
    "        rows = np", "        raise RuntimeError(texts[0])\n        rows = np"
)
EMBEDDING = {"provider": "letters", "model": "pairs", "dimensions": 64}


def install(folder: Path, code: str = LETTERS, version: str = "1.0") -> Path:
    """Install the package of the embedder in a folder."""
    registered_packages.install(
        folder, "letters", code, "embedders", {"letters": "letters:PROVIDER"}, version
    )
    return folder


def write_site(folder: Path, retrieval: dict[str, Any] | None = None, **embedding: Any) -> Path:
    options = {"embedding": embedding or EMBEDDING, "retrieval": retrieval or {}}
    return sites.write_site(folder, notes=sites.NOTES, options=options)


def read_profile(site: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((site / "function/bundle/manifest.json").read_bytes())
    profile: dict[str, Any] = manifest["profile"]
    return profile


def test_a_profile_of_its_own_is_in_the_manifest(tmp_path: Path) -> None:
    packages, site = install(tmp_path / "packages", OWN_PROFILE), write_site(tmp_path / "site")
    done = build(site, packages)
    assert done.returncode == 0, done.stderr
    profile = read_profile(site)
    assert (profile["floor"], profile["note_floor"]) == (0.5, 0.6)


def test_a_new_version_of_the_package_embeds_again(tmp_path: Path) -> None:
    packages, site = install(tmp_path / "packages"), write_site(tmp_path / "site", {"floor": 0})
    assert "; 6 texts embedded" in build(site, packages).stderr
    assert "; 0 texts embedded" in build(site, packages).stderr
    install(packages, LETTERS.replace("ord(letter)", "ord(letter) * 7"), "1.1")
    assert "; 6 texts embedded" in build(site, packages).stderr
    assert "; 0 texts embedded" in build(site, packages).stderr


def test_an_error_of_the_embedder_names_its_line_and_not_its_text(tmp_path: Path) -> None:
    packages, site = install(tmp_path / "packages", FAILING), write_site(tmp_path / "site")
    done = build(site, packages)
    assert done.returncode == 1
    line = FAILING.splitlines().index("        raise RuntimeError(texts[0])") + 1
    assert (
        f"the embedder failed (RuntimeError in {packages}/letters.py, line {line}): correct it "
        "there and build again"
    ) in done.stderr
    assert "Traceback" not in done.stderr
    assert "small boats" not in done.stderr


def test_a_model_and_dimensions_of_its_own_are_required(tmp_path: Path) -> None:
    packages = install(tmp_path / "packages")
    done = build(write_site(tmp_path / "site", provider="letters", model="pairs"), packages)
    assert done.returncode == 1
    assert "embedding.provider: letters needs embedding.dimensions beside it" in done.stderr
    assert "Traceback" not in done.stderr
