"""A token is known by its digest, and by nothing that merely looks like it."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.limits.rate_limit import accepts_bearer_token

TOKEN = "b0at-t0ken.of_the~harbour+master/=="


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


OTHERS = (digest("one"), digest("another"))


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_token_matches_any_listed_digest(scheme: str, place: int) -> None:
    digests = [*OTHERS[:place], digest(TOKEN), *OTHERS[place:]]
    assert accepts_bearer_token(f"{scheme} {TOKEN}", digests)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer{TOKEN}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {TOKEN}\x00",
        f"Bearer {TOKEN}\u00e9",
        f"Bearer {TOKEN}\ud800",
        f"Bearer {digest(TOKEN)}",
        f"Bearer \t{TOKEN}",
    ],
)
def test_other_authorization_headers_are_rejected(header: str | None) -> None:
    assert not accepts_bearer_token(header, [*OTHERS, digest(TOKEN)])


def test_digest_of_empty_token_is_rejected() -> None:
    assert not accepts_bearer_token("Bearer ", [digest("")])
    assert not accepts_bearer_token("Bearer", [digest("")])


@given(st.text())
def test_no_digests_reject_every_token(header: str) -> None:
    assert not accepts_bearer_token(header, ())
    assert not accepts_bearer_token(f"Bearer {header}", ())


@given(st.text())
def test_any_other_text_is_rejected(token: str) -> None:
    assert not accepts_bearer_token(f"Bearer {token}", [digest(TOKEN)])
