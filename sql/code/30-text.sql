-- Functions of a text alone. They run no query, so a parallel worker may call them.
CREATE OR REPLACE FUNCTION pgchunk.count_tokens(content text, tokenizer text DEFAULT 'cl100k_base') RETURNS integer
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL SAFE COST 1000
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].count_tokens(plpy, content, tokenizer)
$python$;
COMMENT ON FUNCTION pgchunk.count_tokens(text, text) IS
    'Number of tokens of a text, exactly as the tokenizer counts: cl100k_base, o200k_base or hf:NAME';

CREATE OR REPLACE FUNCTION pgchunk.outline(
    content text,
    OUT level integer, OUT title text, OUT char_start integer, OUT char_end integer
) RETURNS SETOF record
LANGUAGE plpython3u IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 20
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].outline(plpy, content)
$python$;
COMMENT ON FUNCTION pgchunk.outline(text) IS
    'The headings of a markdown document, H1 to H6, with the offsets of their lines (0-based, half-open, in characters)';
