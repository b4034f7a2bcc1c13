-- What became of the documents that were loaded: the screen of `make demo`. In psql:  \i sql/queries/demo.sql
-- The tables are documents and chunks in the search_path; what to read it for stands above each query.

\set was_quiet :QUIET
\set QUIET on
\pset footer off
\pset border 1
\pset linestyle unicode
\pset null '-'

-- One line for the whole. unfaithful must be 0: it counts the documents for which the stored chunks lose a character,
-- overlap where they must not, or are over the budget, as the view chunk_coverage proves it.
\echo
\echo 'Documents and chunks'
\echo
SELECT
    q.strategy,
    (SELECT count(*) FROM documents) AS documents,
    q.chunks,
    round(q.chunks::numeric / nullif(q.documents, 0), 1) AS "chunks/document",
    s.max_tokens AS budget,
    q.min_tokens AS "tokens: least",
    q.median_tokens AS median,
    q.p95_tokens AS "95 %",
    q.max_tokens AS most,
    q.over_budget AS "over budget",
    (SELECT count(*) FROM chunk_coverage AS v WHERE v.strategy = q.strategy AND NOT v.ok) AS unfaithful
FROM chunk_quality AS q
LEFT JOIN pgchunk.strategies AS s ON s.name = q.strategy
ORDER BY q.strategy;

-- A document with very many chunks is often generated; one with none is blank.
\echo
\echo 'Chunks per document, the fifteen with the most'
\echo
WITH counted AS (
    SELECT d.id, d.source_uri, d.title, length(d.content) AS characters,
        count(c.id) AS chunks, sum(c.token_count) AS tokens
    FROM documents AS d
    LEFT JOIN chunks AS c ON c.document_id = d.id
    GROUP BY d.id
)
SELECT
    id,
    CASE WHEN length(source_uri) > 48 THEN '…' || right(source_uri, 47) ELSE source_uri END AS document,
    CASE WHEN length(title) > 32 THEN left(title, 31) || '…' ELSE title END AS title,
    characters,
    chunks,
    tokens
FROM counted
ORDER BY chunks DESC, id
LIMIT 15;

SELECT documents - 15 AS not_shown, documents > 15 AS more_than_shown
FROM (SELECT count(*) AS documents FROM documents) AS counted
\gset
\if :more_than_shown
    \echo ... and :not_shown more: SELECT document_id, count(*) FROM chunks GROUP BY document_id
\endif

-- The middle chunk of each of a few documents. The heading path is in the embedded text, in front of these words.
\echo
\echo 'A few chunks'
\echo
WITH picked AS (
    SELECT DISTINCT ON (c.document_id) c.*
    FROM chunks AS c
    JOIN (SELECT document_id, max(ordinal) / 2 AS middle FROM chunks GROUP BY document_id) AS m USING (document_id)
    WHERE c.ordinal = m.middle
    ORDER BY c.document_id, c.strategy
)
SELECT
    document_id AS document,
    ordinal,
    token_count AS tokens,
    CASE WHEN length(path) > 44 THEN '…' || right(path, 43) ELSE path END AS "heading path",
    CASE WHEN length(words) > 48 THEN left(words, 47) || '…' ELSE words END AS "begins with"
FROM (
    SELECT *,
        array_to_string(heading_path, ' > ') AS path,
        btrim(regexp_replace(raw_content, '\s+', ' ', 'g')) AS words
    FROM picked
) AS shown
ORDER BY cardinality(heading_path) DESC, token_count DESC, document_id
LIMIT 8;

-- A heap at the right edge means that the budget cuts sections; one at the left, that min_tokens may be higher.
\echo
\echo 'Sizes: tokens of the embedded text, chunks'
\echo
SELECT strategy, lower AS "from", upper AS "to", chunks, bar
FROM chunk_histogram
ORDER BY strategy, lower;

\echo
\pset footer on
\set QUIET :was_quiet
