-- Run once by an administrator in the database of the site: psql -d DATABASE -f roles.sql
CREATE EXTENSION IF NOT EXISTS vector;

-- A build publishes by the one role, and the function answers by the other.
CREATE ROLE answerable_publisher LOGIN;
CREATE ROLE answerable_function LOGIN;
-- An administrator who is no superuser gives a role rights only as a member of it.
GRANT answerable_publisher TO CURRENT_USER;

CREATE SCHEMA answerable AUTHORIZATION answerable_publisher;
GRANT USAGE ON SCHEMA answerable TO answerable_function;
ALTER DEFAULT PRIVILEGES FOR ROLE answerable_publisher IN SCHEMA answerable
  GRANT SELECT ON TABLES TO answerable_function;
ALTER ROLE answerable_function SET default_transaction_read_only = on;

-- The words of questions are parameters, which a log of slow statements then leaves out. Only a
-- superuser may set this; leave it out where statements are not logged.
ALTER ROLE answerable_function SET log_parameter_max_length = 0;
ALTER ROLE answerable_function SET log_parameter_max_length_on_error = 0;

-- Then give each a password: \password answerable_publisher, \password answerable_function
