-- Run once by an administrator, in the database that the site is to live in:
--   psql -d DATABASE -f roles.sql
-- A superuser, or the owner of the database with CREATEROLE; it may be run again.
-- Three roles are told apart: who publishes, the function, and nobody else.

CREATE EXTENSION IF NOT EXISTS vector;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'answerable_publisher') THEN
    CREATE ROLE answerable_publisher LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'answerable_function') THEN
    CREATE ROLE answerable_function LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE;
  END IF;
END
$$;

-- Who is no superuser makes schemas and privileges for another role only as its member.
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'answerable_publisher', 'MEMBER')
     OR NOT pg_has_role(current_user, 'answerable_publisher', 'USAGE') THEN
    EXECUTE format('GRANT answerable_publisher TO %I', current_user);
  END IF;
END
$$;

-- Public passages and the word index in one schema, hints and their vectors in the other.
CREATE SCHEMA IF NOT EXISTS answerable AUTHORIZATION answerable_publisher;
CREATE SCHEMA IF NOT EXISTS answerable_private AUTHORIZATION answerable_publisher;

-- Nobody else: neither the schemas, nor tables that will be made in them.
REVOKE ALL ON SCHEMA answerable, answerable_private FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE answerable_publisher REVOKE ALL ON TABLES FROM PUBLIC;

-- The function reads, and only reads.
GRANT USAGE ON SCHEMA answerable, answerable_private TO answerable_function;
GRANT SELECT ON ALL TABLES IN SCHEMA answerable, answerable_private TO answerable_function;
ALTER DEFAULT PRIVILEGES FOR ROLE answerable_publisher IN SCHEMA answerable
  GRANT SELECT ON TABLES TO answerable_function;
ALTER DEFAULT PRIVILEGES FOR ROLE answerable_publisher IN SCHEMA answerable_private
  GRANT SELECT ON TABLES TO answerable_function;
ALTER ROLE answerable_function SET default_transaction_read_only = on;

-- Which bundle each site serves, and the names of sites, whose rows a publisher locks.
SET ROLE answerable_publisher;
CREATE TABLE IF NOT EXISTS answerable.bundles (
    key text PRIMARY KEY,
    name text NOT NULL,
    format integer NOT NULL,
    id text NOT NULL,
    manifest text NOT NULL,
    search text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    superseded_at timestamptz
);
CREATE TABLE IF NOT EXISTS answerable.served (
    name text PRIMARY KEY,
    key text NOT NULL REFERENCES answerable.bundles
);
CREATE TABLE IF NOT EXISTS answerable.names (
    name text PRIMARY KEY
);
RESET ROLE;

-- What readers ask is a parameter: a server that logs slow statements leaves parameters out.
DO $$
BEGIN
  ALTER ROLE answerable_function SET log_parameter_max_length = 0;
  ALTER ROLE answerable_function SET log_parameter_max_length_on_error = 0;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'only a superuser can keep questions out of the server''s log: set log_parameter_max_length = 0';
END
$$;

-- Large objects are made by functions, which every role may call.
DO $$
DECLARE maker regprocedure;
BEGIN
  FOR maker IN
    SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
    AND proname IN ('lo_create', 'lo_creat', 'lo_from_bytea', 'lo_import')
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', maker);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'only a superuser can take from every role the right to make large objects';
END
$$;

-- Without these two every role may make temporary tables, and in PostgreSQL 14 tables in public.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
DO $$
BEGIN
  EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO answerable_publisher', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO answerable_function', current_database());
END
$$;

-- Then give both a password, which no file need hold:
--   \password answerable_publisher
--   \password answerable_function
