"""Read the transcript that a page's front matter publishes: its file, its cues, its recording."""

import posixpath
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from ...serve.errors import NotebookError, SiteError
from ...serve.structure import is_safe_url
from ..notes.transcripts import TranscriptFormat, parse_transcript
from .records import SpokenCue, Transcript
from .transcript_passages import link_to_time

_FORMATS: dict[str, TranscriptFormat] = {".vtt": "vtt", ".srt": "srt"}


def read_published_transcript(
    page: str, path: object, media: object, find_file: Callable[[str], Path | None]
) -> Transcript:
    """Read the transcript of a page; SiteError names the page or the file, and the remedy.

    page: its path in the docs folder. path, media: ``transcript`` and ``media`` of its front
    matter. find_file: returns where a published file of the docs folder lies.
    """
    if not isinstance(path, str) or not path.strip():
        raise SiteError(f"{page}: transcript: {path!r:.80} is not a path; write one as talk.vtt")
    name = resolve_transcript_path(page, path)
    kind = _FORMATS.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        raise SiteError(
            f"{page}: transcript: {path!r:.80} ends in neither .vtt nor .srt; convert the file"
        )
    file = find_file(name)
    if file is None:
        raise SiteError(
            f"{page}: transcript: {path!r:.80} is not a published file of the docs folder; give "
            "its path from the page, such as talk.vtt, or from the docs folder, such as /talk.vtt"
        )
    address = _check_media(page, media)
    try:
        text = file.read_bytes().decode("utf-8-sig")
        cues = parse_transcript(text.replace("\r\n", "\n").replace("\r", "\n"), kind, name)
    except UnicodeDecodeError:
        raise SiteError(f"{name}: it is not UTF-8; save it as UTF-8") from None
    except NotebookError as error:
        raise SiteError(str(error)) from None
    return Transcript(tuple(SpokenCue(cue.start, cue.end, cue.text) for cue in cues), address)


def resolve_transcript_path(page: str, path: str) -> str:
    """Resolve a path that begins at the page or, with a slash, at the docs folder."""
    folder = posixpath.join("/", posixpath.dirname(page))
    return posixpath.normpath(posixpath.join(folder, path.strip())).lstrip("/")


def _check_media(page: str, media: object) -> str:
    """Check where a recording is played; "" where its page has it."""
    if media is None:
        return ""
    is_address = isinstance(media, str) and media.startswith(("https://", "http://"))
    if not isinstance(media, str) or not is_address or not is_safe_url(link_to_time(media, 0)):
        raise SiteError(
            f"{page}: media: {media!r:.80} is not an http(s) url; correct it, for example "
            "https://video.example/talk, or leave it out"
        )
    return media
