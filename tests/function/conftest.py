"""The engine that most tests of the function ask."""

import pytest

from answerable.engine.engine import Engine
from support.service_requests import letters


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("letters"))
