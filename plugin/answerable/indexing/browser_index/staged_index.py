"""Stage the index of a site for readers' browsers, in memory, from the index that a build has."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...serve.bundle_format.profile import Profile
from ...serve.embedders.embedder import Embedder
from ..index import SiteIndex
from .addressed_files import AddressedFiles
from .index_files import BrowserIndex, serialize_browser_index
from .model_files import write_model_files
from .public_index import select_public_index
from .statement_codes import make_statement_quantizer


@dataclass(frozen=True, slots=True)
class StagedBrowserIndex:
    """Hold an index for browsers, and the model that questions are embedded with."""

    index: BrowserIndex
    model: AddressedFiles

    def list_folders(self, built_at: str) -> tuple[AddressedFiles, AddressedFiles]:
        """List the folders to write: the model, and the index, which names it."""
        return self.model, self.index.complete(built_at)


def stage_model(indexes: Iterable[SiteIndex]) -> AddressedFiles:
    """Stage the model for a site; EmbedderError. indexes: of its languages, which share it."""
    passages = (each.passage for index in indexes for each in index.passages)
    return write_model_files(f"{passage.title}\n{passage.text}" for passage in passages)


def stage_browser_index(
    index: SiteIndex, profile: Profile, embedder: Embedder, bundle_id: str, model: AddressedFiles
) -> StagedBrowserIndex:
    """Stage an index; SiteError for one with notes, of which nothing may reach a browser."""
    public, quantize = select_public_index(index, profile), make_statement_quantizer(embedder)
    return StagedBrowserIndex(
        serialize_browser_index(public, quantize, bundle_id, model.folder), model
    )
