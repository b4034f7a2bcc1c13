-- The chunks hold every character of Unicode, and offsets count characters.
DO $do$
BEGIN
    IF pg_catalog.getdatabaseencoding() <> 'UTF8' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'feature_not_supported',
            MESSAGE = pg_catalog.format('database encoding %s is not supported', pg_catalog.getdatabaseencoding()),
            DETAIL = 'pgchunk needs a database with encoding UTF8.',
            HINT = 'Make one with CREATE DATABASE ... ENCODING ''UTF8'' TEMPLATE template0.';
    END IF;
END
$do$;

COMMENT ON SCHEMA pgchunk IS 'Chunking of documents inside the database: functions, strategies, collections';
