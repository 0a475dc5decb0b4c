"""A build publishes a tiny site to a real PostgreSQL, and the site is answered from it."""

from pathlib import Path

from answerable.engine.providers import make_engine
from answerable.postgres.connections import Database
from answerable.postgres.store import open_postgres_store
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer
from support.sites import NOTES, build_here, local, opened, write_site


def test_a_published_site_is_answered_from_the_database(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    store = {"url": postgres_server.url(PUBLISHER_ROLE), "name": "harbour"}
    build_here(write_site(tmp_path, notes=NOTES, options={"store": store}))
    database = Database(postgres_server.url(FUNCTION_ROLE))
    served = open_postgres_store(database.fetch, "harbour")
    for question, mode in (
        ("How thick is the chain of a mooring?", "partial"),
        ("Where was the gearbox of the winch taken from?", "related-material"),
        ("Who sang at the opera in Vienna?", "not-found"),
    ):
        reply = make_engine(served, local()).answer(question)
        assert reply == make_engine(opened(tmp_path), local()).answer(question)
        assert reply.answer.mode == mode
    database.close()
