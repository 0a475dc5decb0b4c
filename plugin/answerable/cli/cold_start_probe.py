"""One cold start of a function, timed from inside: ``python -I cold_child.py`` and a JSON object.

It imports nothing but what is in the function's folder, as the function does.
"""

import sys
import time

# Before the other imports: they are part of what is timed.
PROCESS_STARTED = time.perf_counter_ns()

import json  # noqa: E402
from itertools import islice  # noqa: E402
from pathlib import Path  # noqa: E402


def measure_cold_start(folder: Path, question: str, *, verify: bool) -> dict[str, object]:
    """When each phase has ended, in nanoseconds of the clock that all processes share."""
    marks = [("interpreter", PROCESS_STARTED)]

    def mark(phase: str) -> None:
        marks.append((phase, time.perf_counter_ns()))

    sys.path.insert(0, str(folder))
    from ..serve.http.adapters.app_factory import begin_startup, end_startup
    from ..serve.settings import BUNDLE_FOLDER, MODEL_FOLDER

    ahead = begin_startup(folder, verify=verify)
    mark("ahead")
    import numpy as np

    mark("numpy")
    from ..serve.retrieval import retrieve
    from ..serve.retrieval.question import read_question
    from ..serve.stores import bundle_reader
    from ..serve.stores.bundle_reader import open_bundle

    if not Path(bundle_reader.__file__).is_relative_to(folder):
        raise ImportError("its code is not there")
    mark("code")
    bundle = open_bundle(folder / BUNDLE_FOLDER, verify=verify, ahead=ahead)
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
        from ..serve.embedders import local_embedder

        embedder = local_embedder.load_local_embedder(folder / MODEL_FOLDER, verify=verify)
        mark("embedder")
        vector = embedder.embed([asked])[0]
        mark("embedding")
    found = retrieve.retrieve(bundle, read_question(bundle, asked), vector)
    mark("retrieval")
    end_startup()
    mode = None
    if not remote:
        from ..serve.providers import make_engine
        from ..serve.settings import read_settings

        chosen = read_settings(folder)
        if chosen.answers == "extractive":
            mode = make_engine(bundle, embedder, chosen).answer(asked).answer.mode
            mark("answer")
    ranked = len(found.passages) + len(found.hints)
    return {"marks": marks, "question": asked, "ranked": ranked, "mode": mode}


if __name__ == "__main__":
    result = measure_cold_start(Path(sys.argv[1]), sys.argv[2], verify=sys.argv[3] == "verify")
    sys.stdout.write(json.dumps(result))
