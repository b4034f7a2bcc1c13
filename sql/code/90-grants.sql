-- PUBLIC has no USAGE on the schema: GRANT USAGE ON SCHEMA pgchunk TO role opens what follows to that role.
-- Roles that only write documents need not even that.
GRANT SELECT ON pgchunk.strategies, pgchunk.recipes, pgchunk.collections TO PUBLIC;
REVOKE EXECUTE ON FUNCTION pgchunk._ship_strategies() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION pgchunk._strategies_written() FROM PUBLIC;
