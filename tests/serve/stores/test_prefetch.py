"""Prefetched files equal those read later, and no more fails because of the prefetch."""

import hashlib
import zlib
from pathlib import Path

import pytest

from answerable.serve.errors import BundleError
from answerable.serve.stores.bundle import Prefetch


def test_prefetched_and_direct_reads_are_equal(tmp_path: Path) -> None:
    packed, plain, empty = tmp_path / "a.z", tmp_path / "b.npy", tmp_path / "c.blocks"
    packed.write_bytes(zlib.compress(b"rope"))
    plain.write_bytes(b"chain" * 1000)
    empty.write_bytes(b"")
    (tmp_path / "folder.z").mkdir()
    for verify in (True, False):
        ahead = Prefetch(tmp_path, verify=verify)
        assert ahead.read_decompressed(packed) == b"rope"
        for path in (packed, plain, empty):
            assert ahead.read_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest()
        ahead.close()


def test_file_added_after_prefetch_is_read_on_demand(tmp_path: Path) -> None:
    ahead = Prefetch(tmp_path, verify=True)
    ahead.close()
    later = tmp_path / "later.z"
    later.write_bytes(zlib.compress(b"rope"))
    assert ahead.read_decompressed(later) == b"rope"
    assert ahead.read_digest(later) == hashlib.sha256(later.read_bytes()).hexdigest()


def test_damaged_file_fails_on_demand_and_stops_no_other(tmp_path: Path) -> None:
    bad, good = tmp_path / "a.z", tmp_path / "b.z"
    bad.write_bytes(b"rope")
    good.write_bytes(zlib.compress(b"chain"))
    ahead = Prefetch(tmp_path, verify=True)
    assert ahead.read_decompressed(good) == b"chain"
    with pytest.raises(BundleError, match=r"a\.z does not decompress"):
        ahead.read_decompressed(bad)
    assert ahead.read_digest(good) == hashlib.sha256(good.read_bytes()).hexdigest()
    # Nothing stays in memory once a bundle is open, and what is asked for later is read again.
    ahead.close()
    assert not ahead._texts
    assert ahead.read_decompressed(good) == b"chain"


def test_prefetch_of_missing_folder_leaves_the_error_to_the_reader(tmp_path: Path) -> None:
    ahead = Prefetch(tmp_path / "nowhere", verify=True)
    with pytest.raises(FileNotFoundError):
        ahead.read_decompressed(tmp_path / "nowhere" / "a.z")
