"""Open an OpenTelemetry span if the process collects them; leave free text out of it.

OpenTelemetry is never imported here: whoever collects spans has imported it and set a provider.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

AttributeValue = bool | int | float | str | None
# Adds attributes to a span that is open.
SetAttributes = Callable[..., None]

_SCOPE = "answerable"
# An id, a word of ours, a model's name; a sentence is none of these.
_SAFE_TEXT = re.compile(r"[A-Za-z0-9_.:/@+-]{1,100}")


def start_span(name: str, **attributes: AttributeValue) -> AbstractContextManager[SetAttributes]:
    """Open a span around a block, which gets a function that adds attributes to it.

    An attribute's name gets the prefix ``answerable.``. A text with a space in it is left out, as
    is None, and of an exception only its type is recorded: its words may be private.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NO_SPAN
    provider = trace.get_tracer_provider()
    if isinstance(provider, (trace.ProxyTracerProvider, trace.NoOpTracerProvider)):
        return _NO_SPAN
    return _record_span(trace, provider, name, attributes)


def _ignore(**attributes: AttributeValue) -> None:
    del attributes


# Without state: every block may share it.
_NO_SPAN: AbstractContextManager[SetAttributes] = nullcontext(_ignore)


@contextmanager
def _record_span(
    trace: Any, provider: Any, name: str, attributes: Mapping[str, AttributeValue]
) -> Iterator[SetAttributes]:
    span = provider.get_tracer(_SCOPE).start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    )
    with span as active:

        def set_attributes(**attributes: AttributeValue) -> None:
            active.set_attributes(_name_attributes(attributes))

        set_attributes(**attributes)
        try:
            yield set_attributes
        except Exception as error:
            active.set_status(trace.StatusCode.ERROR)
            active.set_attribute("error.type", type(error).__name__)
            raise


def _name_attributes(
    attributes: Mapping[str, AttributeValue],
) -> dict[str, bool | int | float | str]:
    return {
        f"{_SCOPE}.{name}": value
        for name, value in attributes.items()
        if value is not None and not (isinstance(value, str) and not _SAFE_TEXT.fullmatch(value))
    }
