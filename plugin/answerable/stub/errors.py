"""What goes wrong in the stub: errors it sends as OpenAI does, and one for its user."""

from ..serve.errors import AnswerableError


class StubError(AnswerableError):
    """A stub that cannot be started."""


class ApiError(Exception):
    """An error that is sent to the client, in OpenAI's envelope."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
