"""What a person is told of something that failed."""

from ..serve.errors import AnswerableError


def sentence(error: AnswerableError | OSError) -> str:
    """What went wrong and the remedy; a file that is not ours to read or write is named."""
    if isinstance(error, OSError) and error.filename is not None:
        return (
            f"{error.filename} cannot be read or written ({error.strerror}): correct the path or "
            "its rights"
        )
    return str(error)
