CREATE OR REPLACE FUNCTION pgchunk._problems(
    content text, title text, format text, content_hash text, strategy text, chunks json
) RETURNS text[]
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].problems(plpy, content, title, format, content_hash, strategy, chunks)
$python$;
COMMENT ON FUNCTION pgchunk._problems(text, text, text, text, text, json) IS
    'What is wrong with the stored chunks of one document and strategy; the views chunk_coverage call it';
