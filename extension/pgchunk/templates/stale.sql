SELECT d.$key AS document_id, d.$uri AS source_uri, w.strategy, w.chunks, r.reasons, h.changes AS detail,
    CASE
        WHEN s.name IS NULL AND w.is_wanted
            THEN 'Take the strategy out of the document''s metadata, or add its row to pgchunk.strategies.'
        WHEN r.reasons && '{missing,options,tokenizer,chunker,unknown}'
            THEN format('CALL pgchunk.rechunk(%L, collection => %L)', w.strategy, p.name)
        ELSE format('SELECT pgchunk.remove_chunks(%L, %L)', w.strategy, p.name)
    END AS remedy
FROM $documents AS d
CROSS JOIN LATERAL (
    -- What the document calls for, and what it has.
    SELECT x.strategy, bool_or(x.is_wanted) AS is_wanted, count(x.recipe_hash) AS chunks,
        min(x.recipe_hash) AS first_recipe, max(x.recipe_hash) AS last_recipe
    FROM (
        SELECT $choice AS strategy, true AS is_wanted, NULL AS recipe_hash WHERE $choice IS NOT NULL
        UNION ALL
        SELECT a.name, true, NULL FROM pgchunk.strategies AS a WHERE a.is_active AND $choice IS NULL
        UNION ALL
        SELECT c.strategy, false, c.recipe_hash FROM $chunks AS c WHERE c.document_id = d.$key
    ) AS x
    GROUP BY x.strategy
) AS w
LEFT JOIN pgchunk.strategies AS s ON s.name = w.strategy
LEFT JOIN pgchunk.recipes AS new ON new.recipe_hash = s.recipe_hash
LEFT JOIN pgchunk.recipes AS old
    ON old.recipe_hash = CASE WHEN w.first_recipe <> s.recipe_hash THEN w.first_recipe ELSE w.last_recipe END
LEFT JOIN pgchunk.collections AS p ON p.documents = $documents_literal::regclass
CROSS JOIN LATERAL (
    SELECT w.chunks > 0 AND (w.first_recipe <> s.recipe_hash OR w.last_recipe <> s.recipe_hash) AS is_other_recipe
) AS o
CROSS JOIN LATERAL (
    SELECT array_remove(ARRAY[
        CASE WHEN s.name IS NULL THEN 'deleted' END,
        CASE WHEN NOT w.is_wanted AND NOT s.is_active THEN 'inactive' END,
        CASE WHEN NOT w.is_wanted AND s.is_active THEN 'not_chosen' END,
        CASE WHEN w.chunks = 0 AND s.name IS NOT NULL THEN
            CASE WHEN pgchunk._has_text(d.$content, $format) THEN 'missing' END
        END,
        CASE WHEN o.is_other_recipe AND old.options - 'tokenizer' <> new.options - 'tokenizer' THEN 'options' END,
        CASE WHEN o.is_other_recipe AND old.options -> 'tokenizer' <> new.options -> 'tokenizer' THEN 'tokenizer' END,
        CASE WHEN o.is_other_recipe AND old.chunker_version <> new.chunker_version THEN 'chunker' END,
        CASE WHEN o.is_other_recipe AND (old.recipe_hash IS NULL OR new.recipe_hash IS NULL) THEN 'unknown' END
    ], NULL) AS reasons
) AS r
CROSS JOIN LATERAL (
    SELECT string_agg(c.change, ', ' ORDER BY c.change) AS changes
    FROM (
        SELECT format('%s: %s to %s', n.key, old.options ->> n.key, n.value) AS change
        FROM jsonb_each_text(new.options) AS n
        WHERE o.is_other_recipe AND n.value IS DISTINCT FROM old.options ->> n.key AND old.recipe_hash IS NOT NULL
        UNION ALL
        SELECT format('chunker version: %s to %s', old.chunker_version, new.chunker_version)
        WHERE o.is_other_recipe AND old.chunker_version <> new.chunker_version
    ) AS c
) AS h
WHERE r.reasons <> '{}'
