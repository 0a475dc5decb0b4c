"""Format an AnswerableError or OSError as one sentence; an OSError with its remedy, if known."""

import errno
import os

from ..serve.errors import AnswerableError

_OS_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "check its permissions"),
    **dict.fromkeys((errno.ENOSPC, errno.EFBIG, errno.EDQUOT), "free space for it"),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT), "correct the path"),
}


def format_error(error: AnswerableError | OSError) -> str:
    """Format an error as one sentence; that of the operating system with its remedy, if known."""
    if not isinstance(error, OSError):
        return str(error)
    path = "a file" if error.filename is None else os.fsdecode(error.filename)
    remedy = _OS_REMEDIES.get(error.errno or 0)
    reason = error.strerror or type(error).__name__
    return f"{path} cannot be read or written ({reason})" + (f"; {remedy}" if remedy else "")
