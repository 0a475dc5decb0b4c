-- Run once by an administrator, in the database that the site is to live in:
--   psql -d DATABASE -f roles.sql
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

-- Without these two every role may make temporary tables, and in PostgreSQL 14 tables in public.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
DO $$
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO answerable_publisher', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO answerable_function', current_database());
END
$$;

-- Then give both a password, which no file need hold:
--   \password answerable_publisher
--   \password answerable_function
