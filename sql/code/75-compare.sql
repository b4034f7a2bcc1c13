-- Two strategies on one document. Stored chunks are taken as they are; where there are none, those of a preview.

CREATE OR REPLACE FUNCTION pgchunk.compare(
    document bigint,
    strategy_a text,
    strategy_b text,
    collection text DEFAULT NULL
) RETURNS TABLE (
    "position" integer, equal boolean,
    a_ordinal integer, a_char_start integer, a_char_end integer, a_tokens integer, a_heading_path text[],
    b_ordinal integer, b_char_start integer, b_char_end integer, b_tokens integer, b_heading_path text[]
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].compare(plpy, 'key', document, strategy_a, strategy_b, collection)
$python$;
COMMENT ON FUNCTION pgchunk.compare(bigint, text, text, text) IS
    'A document''s chunks (by its id) of two strategies side by side, in one row where both end at one place';

CREATE OR REPLACE FUNCTION pgchunk.compare_total(
    document bigint,
    strategy_a text,
    strategy_b text,
    collection text DEFAULT NULL
) RETURNS TABLE (
    strategy text, source text, chunks integer, min_tokens integer, avg_tokens numeric, max_tokens integer,
    total_tokens bigint, boundaries integer, boundaries_shared integer
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 2
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].compare_total(plpy, 'key', document, strategy_a, strategy_b, collection)
$python$;
COMMENT ON FUNCTION pgchunk.compare_total(bigint, text, text, text) IS
    'Sizes and cuts of a document''s chunks (by its id) of two strategies, a row for each';

CREATE OR REPLACE FUNCTION pgchunk.compare(
    document text,
    strategy_a text,
    strategy_b text,
    collection text DEFAULT NULL
) RETURNS TABLE (
    "position" integer, equal boolean,
    a_ordinal integer, a_char_start integer, a_char_end integer, a_tokens integer, a_heading_path text[],
    b_ordinal integer, b_char_start integer, b_char_end integer, b_tokens integer, b_heading_path text[]
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].compare(plpy, 'uri', document, strategy_a, strategy_b, collection)
$python$;
COMMENT ON FUNCTION pgchunk.compare(text, text, text, text) IS
    'A document''s chunks (by its source_uri) of two strategies side by side, in one row where both end at one place';

CREATE OR REPLACE FUNCTION pgchunk.compare_total(
    document text,
    strategy_a text,
    strategy_b text,
    collection text DEFAULT NULL
) RETURNS TABLE (
    strategy text, source text, chunks integer, min_tokens integer, avg_tokens numeric, max_tokens integer,
    total_tokens bigint, boundaries integer, boundaries_shared integer
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000 ROWS 2
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].compare_total(plpy, 'uri', document, strategy_a, strategy_b, collection)
$python$;
COMMENT ON FUNCTION pgchunk.compare_total(text, text, text, text) IS
    'Sizes and cuts of a document''s chunks (by its source_uri) of two strategies, a row for each';
