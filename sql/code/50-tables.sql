-- create_tables() runs with the caller's rights, and the tables are the caller's own. Only what needs more, the
-- trigger functions in an untrusted language and the row in pgchunk.collections, is done by _adopt().
CREATE OR REPLACE FUNCTION pgchunk.create_tables(
    schema text DEFAULT 'public',
    dimensions integer DEFAULT 1024,
    vector_type text DEFAULT 'vector',
    index text DEFAULT 'hnsw'
) RETURNS text
LANGUAGE plpython3u VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].create_tables(plpy, schema, dimensions, vector_type, index)
$python$;
COMMENT ON FUNCTION pgchunk.create_tables(text, integer, text, text) IS
    'Makes documents, chunks and their views in a schema, and returns the collection''s name; what is there stays';

CREATE OR REPLACE FUNCTION pgchunk._adopt(documents regclass, chunks regclass, name text, columns jsonb) RETURNS text
LANGUAGE plpython3u VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].adopt(plpy, documents, chunks, name, columns)
$python$;
COMMENT ON FUNCTION pgchunk._adopt(regclass, regclass, text, jsonb) IS
    'Registers a pair of the caller''s tables and makes their trigger functions';
