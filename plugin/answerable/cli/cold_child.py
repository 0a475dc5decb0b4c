"""One cold start of a function, timed from inside: ``python -I cold_child.py`` and a JSON object.

It imports nothing but what is in the function's folder, as the function does.
"""

import sys
import time

# Before the other imports: they are part of what is timed.
STARTED = time.perf_counter_ns()

import json  # noqa: E402
from itertools import islice  # noqa: E402
from pathlib import Path  # noqa: E402


def main(folder: Path, question: str, *, verify: bool) -> dict[str, object]:
    """When each phase has ended, in nanoseconds of the clock that all processes share."""
    marks = [("interpreter", STARTED)]

    def mark(phase: str) -> None:
        marks.append((phase, time.perf_counter_ns()))

    sys.path.insert(0, str(folder))
    from answerable.serve.settings import BUNDLE, MODEL
    from answerable.serve.web import starting

    ahead = starting.begin(folder, verify=verify)
    mark("ahead")
    import numpy as np

    mark("numpy")
    from answerable.serve import opening, question_reading, retrieval

    if not Path(opening.__file__).is_relative_to(folder):
        raise ImportError("its code is not there")
    mark("code")
    bundle = opening.open_bundle(folder / BUNDLE, verify=verify, ahead=ahead)
    labels = [hint.label for hint in islice(bundle.hints, 1)]
    names = (*bundle.passage_titles[:1], *labels, bundle.site.name)
    asked = question or f"What is {names[0]}?"
    mark("bundle")
    identity = bundle.manifest.identity
    # A host that embeds is not asked: its time is its own, and the call costs money.
    remote = identity.provider != "local"
    if remote:
        vector = np.ones(identity.dimensions, dtype=np.float32)
    else:
        from answerable.serve import local_embedder

        embedder = local_embedder.load(folder / MODEL, verify=verify)
        mark("embedder")
        vector = embedder.embed([asked])[0]
        mark("embedding")
    found = retrieval.retrieve(bundle, question_reading.read_question(bundle, asked), vector)
    mark("retrieval")
    starting.end()
    mode = None
    if not remote:
        from answerable.serve import providers, settings

        chosen = settings.read(folder)
        if chosen.answers == "extractive":
            mode = providers.engine(bundle, embedder, chosen).answer(asked).answer.mode
            mark("answer")
    ranked = len(found.passages) + len(found.hints)
    return {"marks": marks, "question": asked, "ranked": ranked, "mode": mode}


if __name__ == "__main__":
    result = main(Path(sys.argv[1]), sys.argv[2], verify=sys.argv[3] == "verify")
    sys.stdout.write(json.dumps(result))
