"""Script that times one cold start of a function's folder by phase, in its own process, as JSON.

It prints a JSON object, and imports nothing but what is in the function's folder, as the function
does: its imports of the package are absolute, since it runs outside of any package.
"""

import sys
import time

# Before the other imports: they are part of what is timed.
PROCESS_STARTED = time.perf_counter_ns()

import json  # noqa: E402
from itertools import islice  # noqa: E402
from pathlib import Path  # noqa: E402


def measure_cold_start(folder: Path, question: str, *, verify: bool) -> dict[str, object]:
    """Stamp the end of each phase, in nanoseconds of the clock that all processes share."""
    marks = [("interpreter", PROCESS_STARTED)]

    def mark(phase: str) -> None:
        marks.append((phase, time.perf_counter_ns()))

    sys.path.insert(0, str(folder))
    from answerable.serve.http.adapters.app_factory import begin_startup, end_startup
    from answerable.serve.settings import BUNDLE_FOLDER, MODEL_FOLDER

    begin_startup()
    import numpy as np

    mark("numpy")
    from answerable.serve.retrieval.question import read_question
    from answerable.serve.retrieval.retrieve import retrieve
    from answerable.serve.stores import bundle as bundle_reader

    if not Path(bundle_reader.__file__).is_relative_to(folder):
        raise ImportError("its code is not there")
    mark("code")
    bundle = bundle_reader.open_bundle(folder / BUNDLE_FOLDER, verify=verify)
    labels = [hint.label for hint in islice(bundle.hints, 1)]
    topics = (*bundle.passage_titles[:1], *labels, bundle.site.name)
    question = question or f"What is {topics[0]}?"
    mark("bundle")
    identity = bundle.manifest.identity
    # A host that embeds is not asked: its time is its own, and the call costs money.
    is_remote = identity.provider != "local"
    if is_remote:
        vector = np.ones(identity.dimensions, dtype=np.float32)
    else:
        from answerable.serve.embedders.local_embedder import load_local_embedder

        embedder = load_local_embedder(folder / MODEL_FOLDER, verify=verify)
        mark("embedder")
        vector = embedder.embed([question])[0]
        mark("embedding")
    result = retrieve(bundle, read_question(bundle, question), vector)
    mark("retrieval")
    end_startup()
    mode = None
    if not is_remote:
        from answerable.serve.providers import make_engine
        from answerable.serve.settings import read_settings

        settings = read_settings(folder)
        if settings.answers == "extractive":
            mode = make_engine(bundle, embedder, settings).answer(question).answer.mode
            mark("answer")
    ranked = len(result.passages) + len(result.hints)
    return {"marks": marks, "question": question, "ranked": ranked, "mode": mode}


if __name__ == "__main__":
    report = measure_cold_start(Path(sys.argv[1]), sys.argv[2], verify=sys.argv[3] == "verify")
    sys.stdout.write(json.dumps(report))
