"""Stage the index of a site for readers' browsers, in memory, from the index that a build has."""

from ...serve.bundle_format.profile import Profile
from ...serve.embedders.embedder import Embedder
from ..index import SiteIndex
from .index_files import BrowserIndex, serialize_browser_index
from .public_index import select_public_index
from .statement_codes import make_statement_quantizer


def stage_browser_index(
    index: SiteIndex, profile: Profile, embedder: Embedder, bundle_id: str
) -> BrowserIndex:
    """Stage an index; SiteError for one with notes, of which nothing may reach a browser."""
    public = select_public_index(index, profile)
    return serialize_browser_index(public, make_statement_quantizer(embedder), bundle_id, "")
