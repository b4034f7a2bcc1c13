"""Every statement that the command sends. Names in braces are identifiers, quoted when composed."""

from __future__ import annotations

from typing import Final

#: Which of what is needed is there; each is asked for before it is used.
INSTALLED: Final = """
    SELECT e.extversion AS version,
           has_schema_privilege(e.extnamespace, 'USAGE') AS may_use,
           current_user AS role,
           current_database() AS database
    FROM pg_catalog.pg_extension AS e
    WHERE e.extname = 'pgchunk'
"""

#: The tables of a collection, what they have beyond the needed columns, and what this role may do with them.
COLLECTION: Final = """
    SELECT c.name, c.key_column, c.uri_column, c.content_column, c.title_column, c.format_column,
           c.metadata_column, c.hash_column,
           dn.nspname AS documents_schema, d.relname AS documents_table,
           cn.nspname AS chunks_schema, ch.relname AS chunks_table,
           has_any_column_privilege(d.oid, 'SELECT') AS may_select,
           has_any_column_privilege(d.oid, 'INSERT') AS may_insert,
           has_any_column_privilege(d.oid, 'UPDATE') AS may_update,
           has_table_privilege(d.oid, 'DELETE') AS may_delete,
           has_schema_privilege(dn.oid, 'USAGE') AS may_use_documents,
           has_table_privilege(ch.oid, 'SELECT') AS may_select_chunks,
           has_schema_privilege(cn.oid, 'USAGE') AS may_use_chunks
    FROM pgchunk.collections AS c
    LEFT JOIN pg_catalog.pg_class AS d ON d.oid = c.documents
    LEFT JOIN pg_catalog.pg_namespace AS dn ON dn.oid = d.relnamespace
    LEFT JOIN pg_catalog.pg_class AS ch ON ch.oid = c.chunks
    LEFT JOIN pg_catalog.pg_namespace AS cn ON cn.oid = ch.relnamespace
    ORDER BY c.name
"""

STRATEGY_NAMES: Final = "SELECT name FROM pgchunk.strategies ORDER BY name"

#: What the database holds of a batch of files.
STORED: Final = """
    SELECT d.{uri} AS uri, {hash} AS content_hash, {format} AS format, {metadata} AS metadata
    FROM {documents} AS d
    WHERE d.{uri} = ANY (%(uris)s)
"""

STORED_CONTENT: Final = "SELECT d.{content} FROM {documents} AS d WHERE d.{uri} = %(uri)s"

CHUNK_TOTALS: Final = """
    SELECT count(*), coalesce(sum(c.token_count), 0)
    FROM {chunks} AS c
    WHERE c.document_id = ANY (%(keys)s)
"""

#: The documents of a root; a prefix test, so no character of it is a pattern.
BELOW_ROOT: Final = """
    SELECT d.{uri}
    FROM {documents} AS d
    WHERE starts_with(d.{uri}, %(prefix)s) AND {of_root}
"""

DELETE: Final = "DELETE FROM {documents} AS d WHERE d.{uri} = ANY (%(uris)s)"

TOTALS: Final = """
    SELECT (SELECT count(*) FROM {documents}) AS documents,
           (SELECT count(*) FROM {chunks}) AS chunks
"""

#: A chunk is stale when its strategy would be applied differently now, or is gone. Missing are documents with a text
#: that have no chunks of a strategy that their metadata name or, when those name none, that is active.
BY_STRATEGY: Final = """
    WITH missing AS (
        SELECT s.name, count(*) AS documents
        FROM {documents} AS d
        JOIN pgchunk.strategies AS s ON s.name = {choice} OR (s.is_active AND {choice} IS NULL)
        WHERE NOT EXISTS (SELECT FROM {chunks} AS c WHERE c.document_id = d.{key} AND c.strategy = s.name)
            AND pgchunk._has_text(d.{content}, coalesce({format}, 'markdown'))
        GROUP BY s.name
    )
    SELECT coalesce(s.name, c.strategy) AS strategy,
           coalesce(s.is_active, false) AS active,
           count(DISTINCT c.document_id) AS documents,
           count(c.id) AS chunks,
           coalesce(sum(c.token_count), 0)::bigint AS tokens,
           count(c.id) FILTER (WHERE s.recipe_hash IS DISTINCT FROM c.recipe_hash) AS stale,
           coalesce(m.documents, 0) AS missing,
           count(c.id) FILTER (WHERE c.embedding IS NULL) AS not_embedded,
           s.name IS NULL AS is_gone
    FROM pgchunk.strategies AS s
    FULL JOIN {chunks} AS c ON c.strategy = s.name
    LEFT JOIN missing AS m ON m.name = s.name
    GROUP BY coalesce(s.name, c.strategy), s.name, s.is_active, m.documents
    HAVING count(c.id) > 0 OR s.is_active OR m.documents > 0
    ORDER BY strategy
"""

#: A document by its uri or its key; a parameter without a type takes that of the column.
DOCUMENT: Final = """
    SELECT d.{key} AS key, d.{uri} AS uri, d.{content} AS content, {title} AS title, {format} AS format,
           {choice} AS choice
    FROM {documents} AS d
    WHERE d.{by} = %(document)s
    LIMIT 1
"""

STORED_CHUNKS: Final = """
    SELECT c.id, c.ordinal, c.content, c.raw_content, c.raw_prefix, c.raw_suffix, c.heading_path, c.token_count,
           c.content_token_count, c.char_start, c.char_end, c.continuation, c.flags, c.content_hash, c.recipe_hash,
           c.embedding IS NOT NULL AS is_embedded, c.embedding_model, c.embedded_at
    FROM {chunks} AS c
    WHERE c.document_id = %(key)s AND c.strategy = %(strategy)s
    ORDER BY c.ordinal
"""

STRATEGIES: Final = "SELECT * FROM pgchunk.strategies ORDER BY name"

RECIPE: Final = "SELECT options FROM pgchunk.recipes WHERE recipe_hash = %(recipe_hash)s"

PREVIEW: Final = """
    SELECT *
    FROM pgchunk.preview_document(%(document)s::text, %(strategy)s::text, %(overrides)s::jsonb, %(collection)s::text)
"""
