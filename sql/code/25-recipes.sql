-- Who may write strategies need not be allowed to write recipes, or to read the chunks of a strategy that goes.
CREATE OR REPLACE FUNCTION pgchunk._strategies_written() RETURNS trigger
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].strategies_written(plpy, TD)
$python$;
COMMENT ON FUNCTION pgchunk._strategies_written() IS
    'Records a strategy''s recipe; keeps a strategy that has chunks from being deleted or renamed';

CREATE OR REPLACE TRIGGER strategies_written AFTER INSERT OR UPDATE OR DELETE ON pgchunk.strategies
    FOR EACH ROW EXECUTE FUNCTION pgchunk._strategies_written();

-- A dump brings recipes that the restored strategies have recorded already.
CREATE OR REPLACE FUNCTION pgchunk._recipes_before() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT NEW.shipped AND EXISTS (SELECT FROM pgchunk.recipes AS r WHERE r.recipe_hash = NEW.recipe_hash) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION pgchunk._recipes_before() IS 'Passes over recipes that are recorded already';

CREATE OR REPLACE TRIGGER recipes_before BEFORE INSERT ON pgchunk.recipes
    FOR EACH ROW EXECUTE FUNCTION pgchunk._recipes_before();
