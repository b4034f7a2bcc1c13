-- Are the chunks any good? For psql:   \i sql/queries/quality.sql
-- One strategy:   \set strategy sections   before it; without, every strategy that has chunks.
\if :{?strategy}
\else
    \set strategy all
\endif
\set was_quiet :QUIET
\set QUIET on
\pset footer off
\pset null '-'

\echo
\echo 'Sizes, in tokens of content (what is embedded)'
\echo '  Look for a median far below max_tokens with many undersized: the documents are cut too fine.'
\echo '  over_budget must be 0, and hard_split means that words were cut.'
SELECT strategy, documents, chunks, min_tokens AS min, median_tokens AS median, p95_tokens AS p95,
       max_tokens AS max, avg_tokens AS avg, over_budget, undersized, merged, hard_split
FROM chunk_quality
WHERE :'strategy' IN ('all', strategy)
ORDER BY strategy;

\echo 'Distribution'
\echo '  A tall first bar: many chunks with hardly any text. A tall last bar: long sections, cut at the budget.'
SELECT strategy, lpad(lower::text, 6) || ' - ' || rpad(upper::text, 6) AS tokens, chunks, bar
FROM chunk_histogram
WHERE :'strategy' IN ('all', strategy)
ORDER BY strategy, lower;

\echo 'Why chunks stand out'
SELECT strategy, reason, count(*) AS chunks, count(DISTINCT document_id) AS documents
FROM chunk_outliers
WHERE :'strategy' IN ('all', strategy)
GROUP BY strategy, reason
ORDER BY strategy, chunks DESC, reason;

\echo 'The tails: the smallest and the largest five'
\echo '  Read them. A small one should still say something on its own; a large one should be about one thing.'
SELECT strategy, tail, tokens, chunk_id, right(source_uri, 30) AS document, left(text, 50) AS text
FROM (
    SELECT c.strategy, c.content_token_count AS tokens, c.id AS chunk_id, d.source_uri,
           regexp_replace(c.raw_content, '\s+', ' ', 'g') AS text, t.tail,
           row_number() OVER (PARTITION BY c.strategy, t.tail
                              ORDER BY c.content_token_count * t.direction, c.id) AS place
    FROM chunks AS c
    JOIN documents AS d ON d.id = c.document_id
    CROSS JOIN (VALUES ('small', 1), ('large', -1)) AS t (tail, direction)
    WHERE :'strategy' IN ('all', c.strategy)
) AS ranked
WHERE place <= 5
ORDER BY strategy, tail DESC, tokens, chunk_id;

\echo 'Chunks without a breadcrumb (the first 20)'
\echo '  Nothing in their embedded text tells which document and section they are from. Give the document a title.'
SELECT strategy, chunk_id, ordinal, content_token_count AS tokens, right(source_uri, 60) AS document
FROM chunk_outliers
WHERE reason = 'no_breadcrumb' AND :'strategy' IN ('all', strategy)
ORDER BY strategy, document_id, ordinal
LIMIT 20;
\pset footer on
\set QUIET :was_quiet
