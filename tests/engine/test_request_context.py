"""Each question has a context of its own, in which it is stopped and its cost is counted."""

import threading

from answerable.engine.request_context import (
    RequestContext,
    current_context,
    use_context,
)


def test_each_question_has_its_own_context() -> None:
    outer, inner = RequestContext(), RequestContext()
    with use_context(outer):
        with use_context(inner):
            assert current_context() is inner
        assert current_context() is outer
        elsewhere: list[RequestContext] = []
        thread = threading.Thread(target=lambda: elsewhere.append(current_context()))
        thread.start()
        thread.join()
    assert elsewhere[0] not in (outer, inner)
    assert current_context() is not current_context()
