"""Count which pieces of the tokenizer are common in technical English, and write the list of them.

The texts are those that an environment of Python has: the docstrings of its standard library, the
descriptions of the packages that are installed, and this manual. Each source weighs the same. Run
as a module, it writes the list anew.
"""

import ast
import sysconfig
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from email import message_from_string
from importlib import metadata
from pathlib import Path

from answerable.serve.embedders.local_embedder import FIRST_MERGED, SPACE, TokenPieces
from hatch_build import COMMON_PIECES_FILE, read_pieces
from support.sites import ROOT

# Each class of the list ends at twice as many pieces as the one before it.
CLASS_ENDS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
# Their sites are what the sizes of the shards are measured by.
_MEASURED = {"fastapi", "httpx"}


def read_docstrings() -> Iterator[str]:
    """Read the docstrings of the modules of the standard library."""
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                yield ast.get_docstring(node) or ""


def read_descriptions() -> Iterator[str]:
    """Read the descriptions of the installed packages, which are mostly their READMEs."""
    for package in metadata.distributions():
        if package.name.lower() not in _MEASURED:
            about = message_from_string(package.read_text("METADATA") or "")
            yield str(about["Description"] or about.get_payload())


def rank_pieces(sources: Iterable[Iterable[str]], pieces: list[str]) -> list[str]:
    """Rank the pieces in ASCII by their mean share in some sources, the most common first."""
    encoder = TokenPieces(pieces)
    shares: dict[int, float] = defaultdict(float)
    for texts in sources:
        counts = Counter(number for text in texts for number in encoder.encode(text))
        for number, count in counts.items():
            shares[number] += count / counts.total()
    ranked = sorted(shares, key=lambda number: (-shares[number], number))
    common = [pieces[number] for number in ranked if number >= FIRST_MERGED]
    return [piece for piece in common if piece.replace(SPACE, " ").isascii()]


def main() -> None:
    """Write the classes of common pieces, each in the order of ids."""
    pieces = read_pieces()
    manual = (path.read_text("utf-8") for path in sorted(ROOT.glob("docs/**/*.md")))
    ranked = rank_pieces((read_docstrings(), read_descriptions(), manual), pieces)
    classes = (ranked[a:b] for a, b in zip((0, *CLASS_ENDS), CLASS_ENDS, strict=False))
    text = "\n\n".join("\n".join(sorted(each, key=pieces.index)) for each in classes)
    COMMON_PIECES_FILE.write_text(f"{text}\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
