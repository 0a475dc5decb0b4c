"""A folder as a zip archive: the same files give the same bytes."""

import zipfile
from pathlib import Path

# The earliest time that a zip can hold; times of files differ from one machine to the next.
_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644
_UNIX = 3


def write(folder: Path, target: Path) -> None:
    """Write every file below a folder into a zip, sorted by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = _UNIX
            entry.external_attr = _READABLE << 16
            archive.writestr(entry, path.read_bytes(), compresslevel=9)
