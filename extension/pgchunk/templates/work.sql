CREATE OR REPLACE FUNCTION $function(task jsonb) RETURNS jsonb
LANGUAGE plpython3u VOLATILE STRICT SECURITY DEFINER PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$python$$
if 'pgchunk' not in GD:
    plpy.execute('SELECT pgchunk._load()')
return GD['pgchunk'].work(plpy, task)
$$python$$;
ALTER FUNCTION $function(jsonb) OWNER TO $owner;
ALTER FUNCTION $function(jsonb) DEPENDS ON EXTENSION pgchunk;
REVOKE ALL ON FUNCTION $function(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION $function(jsonb) TO $owner;
COMMENT ON FUNCTION $function(jsonb) IS 'Worker function of pgchunk: writes chunks for rechunk() and remove_chunks()';
