CREATE OR REPLACE VIEW $quality WITH (security_invoker = true) AS
SELECT
    c.strategy,
    count(DISTINCT c.document_id) AS documents,
    count(*) AS chunks,
    min(c.content_token_count) AS min_tokens,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY c.content_token_count) AS median_tokens,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY c.content_token_count) AS p95_tokens,
    max(c.content_token_count) AS max_tokens,
    round(avg(c.content_token_count), 1) AS avg_tokens,
    count(*) FILTER (WHERE c.content_token_count > s.max_tokens) AS over_budget,
    count(*) FILTER (WHERE 'undersized' = ANY (c.flags)) AS undersized,
    count(*) FILTER (WHERE 'merged' = ANY (c.flags)) AS merged,
    count(*) FILTER (WHERE 'hard_split' = ANY (c.flags)) AS hard_split,
    count(*) FILTER (WHERE 'split_table' = ANY (c.flags)) AS split_table,
    count(*) FILTER (WHERE 'split_code' = ANY (c.flags)) AS split_code,
    count(*) FILTER (WHERE 'breadcrumb_truncated' = ANY (c.flags)) AS breadcrumb_truncated,
    count(*) FILTER (WHERE c.content = c.raw_prefix || c.raw_content || c.raw_suffix) AS without_breadcrumb
FROM $chunks AS c
LEFT JOIN pgchunk.strategies AS s ON s.name = c.strategy
GROUP BY c.strategy;
COMMENT ON VIEW $quality IS
    'Sizes of the embedded texts (content, in tokens) and counts of what to look at, one row for each strategy';

CREATE OR REPLACE VIEW $histogram WITH (security_invoker = true) AS
WITH sizes AS (
    SELECT c.strategy, c.content_token_count AS tokens,
        greatest(ceil(coalesce(s.max_tokens, max(c.content_token_count) OVER (PARTITION BY c.strategy)) / 16.0), 1)::integer
            AS width
    FROM $chunks AS c
    LEFT JOIN pgchunk.strategies AS s ON s.name = c.strategy
), buckets AS (
    SELECT strategy, width, greatest(tokens - 1, 0) / width AS bucket, count(*) AS chunks
    FROM sizes
    GROUP BY strategy, width, greatest(tokens - 1, 0) / width
), tallest AS (
    SELECT strategy, width, max(chunks) AS chunks
    FROM buckets
    GROUP BY strategy, width
)
SELECT
    t.strategy,
    b.bucket * t.width + 1 AS lower,
    (b.bucket + 1) * t.width AS upper,
    coalesce(n.chunks, 0) AS chunks,
    repeat('█', ceil(40.0 * coalesce(n.chunks, 0) / t.chunks)::integer) AS bar
FROM tallest AS t
CROSS JOIN LATERAL (
    SELECT generate_series(0, 15) AS bucket
    UNION
    SELECT o.bucket FROM buckets AS o WHERE o.strategy = t.strategy AND o.width = t.width
) AS b
LEFT JOIN buckets AS n ON n.strategy = t.strategy AND n.width = t.width AND n.bucket = b.bucket
ORDER BY t.strategy, lower;
COMMENT ON VIEW $histogram IS
    'How many chunks have how many tokens of content: 16 buckets up to max_tokens, and what is over it';

CREATE OR REPLACE VIEW $outliers WITH (security_invoker = true) AS
SELECT c.strategy, c.document_id, d.$uri AS source_uri, c.id AS chunk_id, c.ordinal, c.content_token_count, r.reason, r.remedy
FROM $chunks AS c
JOIN $documents AS d ON d.$key = c.document_id
LEFT JOIN pgchunk.strategies AS s ON s.name = c.strategy
CROSS JOIN LATERAL (VALUES
    (c.content_token_count > s.max_tokens, 'over_budget',
        'A single character is longer than max_tokens, or max_tokens was lowered: raise it, or chunk the document again.'),
    ('hard_split' = ANY (c.flags), 'hard_split',
        'A word was longer than max_tokens and was cut: look for encoded data or a line without spaces in the source.'),
    ('undersized' = ANY (c.flags), 'too_small',
        'Fewer than min_tokens and no neighbour to merge with: merge = next or previous joins more, a lower min_tokens accepts it.'),
    ('heading_only' = ANY (c.flags), 'heading_only',
        'A heading without text: write the section, or let it merge (merge = next).'),
    ('breadcrumb_truncated' = ANY (c.flags), 'breadcrumb_truncated',
        'Title and headings are longer than heading_path_tokens: raise it, or shorten them.'),
    (c.content = c.raw_prefix || c.raw_content || c.raw_suffix, 'no_breadcrumb',
        'Neither title nor heading tells what it is about: give the document a title, or set include_title.')
) AS r (applies, reason, remedy)
WHERE r.applies;
COMMENT ON VIEW $outliers IS 'Chunks worth a look, with the reason and what can be done';

CREATE OR REPLACE VIEW $coverage WITH (security_invoker = true) AS
SELECT d.$key AS document_id, d.$uri AS source_uri, w.strategy, p.problems = '{}' AS ok, p.problems
FROM $documents AS d
CROSS JOIN LATERAL (
    SELECT $choice AS strategy WHERE $choice IS NOT NULL
    UNION
    SELECT s.name FROM pgchunk.strategies AS s WHERE s.is_active AND $choice IS NULL
    UNION
    SELECT c.strategy FROM $chunks AS c WHERE c.document_id = d.$key
) AS w
CROSS JOIN LATERAL (
    SELECT pgchunk._problems(d.$content, $title, $format, $hash, w.strategy, json_agg(json_build_object(
        'ordinal', c.ordinal, 'content', c.content, 'raw_content', c.raw_content,
        'raw_prefix', c.raw_prefix, 'raw_suffix', c.raw_suffix, 'heading_path', c.heading_path,
        'token_count', c.token_count, 'content_token_count', c.content_token_count,
        'char_start', c.char_start, 'char_end', c.char_end, 'continuation', c.continuation,
        'flags', c.flags, 'content_hash', c.content_hash, 'recipe_hash', c.recipe_hash
    ) ORDER BY c.ordinal)) AS problems
    FROM $chunks AS c
    WHERE c.document_id = d.$key AND c.strategy = w.strategy
) AS p;
COMMENT ON VIEW $coverage IS
    'Whether the stored chunks of each document and strategy keep the laws: verbatim slices, nothing left out, within budget, in order';

CREATE OR REPLACE VIEW $stale WITH (security_invoker = true) AS
$stale_query;
COMMENT ON VIEW $stale IS
    'Documents and strategies whose chunks are not what they would be if they were made now, with the reasons, what changed and the remedy';
