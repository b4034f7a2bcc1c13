-- What becomes of chunks when a strategy changes. Reading functions run with the caller's rights and write nothing.

CREATE OR REPLACE FUNCTION pgchunk._has_text(content text, format text) RETURNS boolean
LANGUAGE plpython3u IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 100
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].has_text(plpy, content, format)
$python$;
COMMENT ON FUNCTION pgchunk._has_text(text, text) IS
    'Whether a document gets chunks at all: it is more than blanks and front matter; the views chunk_stale call it';

CREATE OR REPLACE FUNCTION pgchunk.what_if(
    strategy text,
    overrides jsonb DEFAULT '{}',
    collection text DEFAULT NULL
) RETURNS TABLE (
    document_id text, source_uri text, chunks_kept integer, chunks_added integer, chunks_removed integer,
    embeddings_reused integer, tokens_to_embed bigint
)
LANGUAGE plpython3u STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000 ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].what_if(plpy, strategy, overrides, collection)
$python$;
COMMENT ON FUNCTION pgchunk.what_if(text, jsonb, text) IS
    'What rechunk() would do to each document if the strategy were active and had these options; writes nothing';

CREATE OR REPLACE FUNCTION pgchunk.what_if_total(
    strategy text,
    overrides jsonb DEFAULT '{}',
    collection text DEFAULT NULL,
    OUT documents bigint, OUT documents_changed bigint, OUT chunks_kept bigint, OUT chunks_added bigint,
    OUT chunks_removed bigint, OUT embeddings_reused bigint, OUT tokens_to_embed bigint
)
LANGUAGE sql STABLE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*), count(*) FILTER (WHERE w.chunks_added + w.chunks_removed > 0),
        coalesce(sum(w.chunks_kept), 0), coalesce(sum(w.chunks_added), 0), coalesce(sum(w.chunks_removed), 0),
        coalesce(sum(w.embeddings_reused), 0), coalesce(sum(w.tokens_to_embed), 0)::bigint
    FROM pgchunk.what_if(strategy, overrides, collection) AS w
$$;
COMMENT ON FUNCTION pgchunk.what_if_total(text, jsonb, text) IS 'The sums of what_if() in one row; writes nothing';

-- A procedure that commits can neither have a SET clause nor run with other rights. It pins search_path itself, in
-- each of its transactions, before it does anything else; all writing is done by the collection's worker function.
CREATE OR REPLACE PROCEDURE pgchunk.rechunk(
    strategy text DEFAULT NULL,
    batch_size integer DEFAULT 100,
    collection text DEFAULT NULL
)
LANGUAGE plpython3u
AS $python$
@PRELUDE@
GD['pgchunk'].rechunk(plpy, strategy, batch_size, collection)
$python$;
COMMENT ON PROCEDURE pgchunk.rechunk(text, integer, text) IS
    'Brings stale chunks up to date and makes missing ones, batch_size documents a transaction; strategy NULL: all';

CREATE OR REPLACE FUNCTION pgchunk.remove_chunks(strategy text, collection text DEFAULT NULL) RETURNS bigint
LANGUAGE plpython3u VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].remove_chunks(plpy, strategy, collection)
$python$;
COMMENT ON FUNCTION pgchunk.remove_chunks(text, text) IS
    'Deletes a strategy''s chunks from the documents that do not call for it any more; returns how many';
