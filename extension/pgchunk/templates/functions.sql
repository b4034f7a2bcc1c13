CREATE OR REPLACE FUNCTION $function() RETURNS trigger
LANGUAGE plpython3u VOLATILE SECURITY DEFINER PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$python$$
if 'pgchunk' not in GD:
    plpy.execute('SELECT pgchunk._load()')
return GD['pgchunk'].$handler(plpy, TD)
$$python$$;
ALTER FUNCTION $function() OWNER TO $owner;
ALTER FUNCTION $function() DEPENDS ON EXTENSION pgchunk;
REVOKE ALL ON FUNCTION $function() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION $function() TO $owner;
COMMENT ON FUNCTION $function() IS 'Trigger function of pgchunk: $what';
