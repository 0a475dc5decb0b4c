"""A container that Python packs is unpacked by Python and by the engine's JavaScript."""

import base64
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from answerable.engine.errors import BundleError
from answerable.engine.index.format import (
    ARRAY_TYPES,
    Container,
    pack_container,
    unpack_container,
)
from support.engine_process import OPENER, engine
from support.fuzz_settings import fuzzed

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@st.composite
def arrays(draw: st.DrawFn) -> NDArray[Any]:
    dtype = draw(st.sampled_from(list(ARRAY_TYPES.values())))
    data = draw(st.binary(max_size=6 * dtype.itemsize))
    values = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
    # JSON, in which the test compares, has no other numbers.
    return np.where(np.isfinite(values), values, 0).astype(dtype)


CONTAINERS = st.builds(
    Container,
    st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3),
    st.dictionaries(st.text(max_size=5).filter(lambda name: name != "__proto__"), arrays()),
)


def _unpack_in_javascript(data: bytes) -> Any:
    packed = {"$bytes": base64.b64encode(data).decode()}
    return engine().call(OPENER, "unpackContainer", packed)


@fuzzed(few=40)
@given(CONTAINERS)
def test_container_survives_the_round_trip(container: Container) -> None:
    data = pack_container(container)
    unpacked = unpack_container(data, "x.bin")
    assert unpacked.values == container.values
    expected = {name: array.tolist() for name, array in container.arrays.items()}
    assert {name: array.tolist() for name, array in unpacked.arrays.items()} == expected
    reply = _unpack_in_javascript(data)
    assert reply["values"] == container.values
    # JavaScript writes a large float without its exponent, which Python reads as an int.
    types = {name: array.dtype for name, array in container.arrays.items()}
    assert {n: np.array(v, types[n]).tolist() for n, v in reply["arrays"].items()} == expected


@pytest.mark.parametrize("damage", [slice(0, -5), slice(1, None), slice(0, 0)])
def test_damaged_container_is_refused_by_both(damage: slice) -> None:
    data = pack_container(Container({"a": "b" * 50}, {"n": np.arange(40, dtype="<u4")}))[damage]
    with pytest.raises(BundleError, match=r"x\.bin"):
        unpack_container(data, "x.bin")
    with pytest.raises(AssertionError):
        _unpack_in_javascript(data)


def test_compressed_data_of_another_kind_is_no_container() -> None:
    data = zlib.compress(b'\x10\0\0\0{"format":"other","arrays":[],"values":{}}')
    with pytest.raises(BundleError, match=r"x\.bin is malformed"):
        unpack_container(data, "x.bin")
    with pytest.raises(AssertionError):
        _unpack_in_javascript(data)
