"""The server that others import in their tests: what the official client gets of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from openai import OpenAI

from answerable.cli import main
from answerable.testing import OpenAIServer
from support import sites
from support.published_functions import KEY

SOURCE = {"kind": "source", "id": "s1", "title": "Mooring", "text": "The chain is thick."}


def test_client_gets_responses_completions_and_vectors() -> None:
    prompt = f"{json.dumps(SOURCE)}\n" + json.dumps({"kind": "question", "text": "How thick?"})
    with OpenAIServer() as server, OpenAI(base_url=server.base_url, api_key="a") as client:
        response = client.responses.create(model="any", input=prompt)
        completion = client.chat.completions.create(
            model="any",
            messages=[{"role": "system", "content": "{"}, {"role": "user", "content": prompt}],
        )
        rows = client.embeddings.create(model="any", input=["chain", ""], dimensions=64).data
    (claim,) = json.loads(response.output_text)["claims"]
    assert claim["evidence"] == [{"source": "s1", "quote": "The chain is thick."}]
    assert completion.choices[0].message.content == response.output_text
    assert [round(float(np.linalg.norm(row.embedding)), 4) for row in rows] == [1.0, 1.0]
    paths = ["/v1/responses", "/v1/chat/completions", "/v1/embeddings"]
    assert [path for path, _ in server.requests] == paths


def test_site_is_answered_by_the_model_of_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIServer() as server:
        options = {"answers": {"provider": "openai", "base_url": server.base_url}}
        sites.build_here(sites.write_site(tmp_path, options=options))
        monkeypatch.chdir(tmp_path)
        done = CliRunner().invoke(main, ["ask", "How thick is the chain of a mooring?"])
    assert "Mooring" in done.output
    assert len(server.requests) == 1
