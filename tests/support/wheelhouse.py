"""A folder of small wheels that stands in for a package index, so that pip needs no network."""

import zipfile
from collections.abc import Iterable
from pathlib import Path


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    requires: Iterable[str] = (),
    tag: str = "py3-none-any",
    extras: Iterable[str] = (),
) -> Path:
    """Write a wheel of one module into a folder; its file."""
    stem = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{stem}-{tag}.whl"
    about = [f"Name: {name}", f"Version: {version}"]
    about += [f"Provides-Extra: {extra}" for extra in extras]
    about += [f"Requires-Dist: {text}" for text in requires]
    files = {
        f"{name.replace('-', '_')}/__init__.py": f"VERSION = {version!r}\n",
        f"{name.replace('-', '_')}/tests/test_it.py": "assert True\n",
        f"{stem}.dist-info/METADATA": "\n".join(["Metadata-Version: 2.1", *about]) + "\n",
        f"{stem}.dist-info/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n"
        ),
        f"{stem}.dist-info/licenses/LICENSE": "Free.\n",
    }
    record = f"{stem}.dist-info/RECORD"
    listed = "".join(f"{file},,\n" for file in (*files, record))
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, record: listed}.items():
            archive.writestr(file, text)
    return path
