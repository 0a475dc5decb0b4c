"""Choose how a site's scores are computed: the profile of its embedder, for its notebook."""

from dataclasses import replace

from ..serve.bundle_format.profile import Profile, scale_note_floor
from ..serve.provider_registry import EMBEDDER_PROVIDERS
from .index import SiteIndex


def choose_embedder_profile(provider: str, index: SiteIndex) -> Profile:
    """Return the profile of an embedder; the note floor of the local one follows the notebook."""
    profile = EMBEDDER_PROVIDERS[provider].profile
    # How the floor grows was measured for the local embedder alone.
    if provider == "local":
        return replace(profile, note_floor=scale_note_floor(len(index.hint_owners)))
    return profile
