-- Trigger functions live beside the user's tables and outlive an upgrade, so they carry neither path nor version:
-- they call this function when the session has not loaded the package yet.
CREATE OR REPLACE FUNCTION pgchunk._load() RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
$python$;
COMMENT ON FUNCTION pgchunk._load() IS 'Loads the Python package into the session';

-- PL/Python's own debug() is DEBUG2.
CREATE OR REPLACE FUNCTION pgchunk._debug1(message text) RETURNS void
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE DEBUG '%', message;
END
$$;
COMMENT ON FUNCTION pgchunk._debug1(text) IS 'Writes a log line at DEBUG1';
