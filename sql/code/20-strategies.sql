CREATE OR REPLACE FUNCTION pgchunk._strategies_before() RETURNS trigger
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].strategies_before(plpy, TD)
$python$;
COMMENT ON FUNCTION pgchunk._strategies_before() IS 'Checks a strategy''s options and sets its recipe_hash';

CREATE OR REPLACE FUNCTION pgchunk._strategies_after() RETURNS trigger
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].strategies_after(plpy)
$python$;
COMMENT ON FUNCTION pgchunk._strategies_after() IS 'Checks that one strategy is the default';

CREATE OR REPLACE FUNCTION pgchunk._ship_strategies() RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
GD['pgchunk'].ship_strategies(plpy)
$python$;
COMMENT ON FUNCTION pgchunk._ship_strategies() IS 'Writes the shipped strategies that nobody has customised';

CREATE OR REPLACE TRIGGER strategies_before BEFORE INSERT OR UPDATE ON pgchunk.strategies
    FOR EACH ROW EXECUTE FUNCTION pgchunk._strategies_before();
CREATE OR REPLACE TRIGGER strategies_after AFTER INSERT OR UPDATE OR DELETE ON pgchunk.strategies
    FOR EACH STATEMENT EXECUTE FUNCTION pgchunk._strategies_after();
