-- These read pgchunk.strategies and documents with the caller's rights, and write nothing.

CREATE OR REPLACE FUNCTION pgchunk.preview(
    content text,
    title text DEFAULT NULL,
    strategy text DEFAULT NULL,
    overrides jsonb DEFAULT '{}',
    format text DEFAULT 'markdown'
) RETURNS TABLE (
    ordinal integer, content text, raw_content text, raw_prefix text, raw_suffix text, heading_path text[],
    token_count integer, content_token_count integer, char_start integer, char_end integer,
    continuation boolean, flags text[], content_hash text, recipe_hash text
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].preview(plpy, content, title, strategy, overrides, format)
$python$;
COMMENT ON FUNCTION pgchunk.preview(text, text, text, jsonb, text) IS
    'The chunks a text would get, written nowhere; title NULL: derived, strategy NULL: the default one';

CREATE OR REPLACE FUNCTION pgchunk.preview_document(
    document bigint,
    strategy text DEFAULT NULL,
    overrides jsonb DEFAULT '{}',
    collection text DEFAULT NULL
) RETURNS TABLE (
    ordinal integer, content text, raw_content text, raw_prefix text, raw_suffix text, heading_path text[],
    token_count integer, content_token_count integer, char_start integer, char_end integer,
    continuation boolean, flags text[], content_hash text, recipe_hash text
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].preview_document(plpy, 'key', document, strategy, overrides, collection)
$python$;
COMMENT ON FUNCTION pgchunk.preview_document(bigint, text, jsonb, text) IS
    'The chunks a stored document (by its id) would get, written nowhere; strategy NULL: the document''s own';

CREATE OR REPLACE FUNCTION pgchunk.preview_document(
    document text,
    strategy text DEFAULT NULL,
    overrides jsonb DEFAULT '{}',
    collection text DEFAULT NULL
) RETURNS TABLE (
    ordinal integer, content text, raw_content text, raw_prefix text, raw_suffix text, heading_path text[],
    token_count integer, content_token_count integer, char_start integer, char_end integer,
    continuation boolean, flags text[], content_hash text, recipe_hash text
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].preview_document(plpy, 'uri', document, strategy, overrides, collection)
$python$;
COMMENT ON FUNCTION pgchunk.preview_document(text, text, jsonb, text) IS
    'The chunks a stored document (by its source_uri) would get, written nowhere; strategy NULL: the document''s own';
