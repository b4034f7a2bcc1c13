-- The pairs of tables that pgchunk works on. Tables are held by oid, so a rename or a move changes nothing.
CREATE TABLE pgchunk.collections (
    name text PRIMARY KEY,
    documents regclass NOT NULL UNIQUE,
    chunks regclass NOT NULL UNIQUE,
    key_column text NOT NULL,
    key_type regtype NOT NULL,
    content_column text NOT NULL,
    title_column text,
    uri_column text,
    format_column text,
    metadata_column text,
    hash_column text,
    updated_column text,
    CHECK (documents::pg_catalog.oid <> chunks::pg_catalog.oid)
);

COMMENT ON TABLE pgchunk.collections IS 'Pairs of a documents table and its chunk table; written by create_tables()';
COMMENT ON COLUMN pgchunk.collections.documents IS 'The table whose rows are chunked';
COMMENT ON COLUMN pgchunk.collections.chunks IS 'The table that holds their chunks';
COMMENT ON COLUMN pgchunk.collections.key_column IS 'Column of documents that chunks.document_id refers to';
COMMENT ON COLUMN pgchunk.collections.key_type IS 'Type of that column';
COMMENT ON COLUMN pgchunk.collections.content_column IS 'Column with the text';
COMMENT ON COLUMN pgchunk.collections.title_column IS 'Column with the title, filled in when it is empty';
COMMENT ON COLUMN pgchunk.collections.uri_column IS 'Column that names the document''s source';
COMMENT ON COLUMN pgchunk.collections.format_column IS 'Column with markdown or text; NULL: all are markdown';
COMMENT ON COLUMN pgchunk.collections.metadata_column IS
    'jsonb column whose key pgchunk.strategy picks a strategy for one document';
COMMENT ON COLUMN pgchunk.collections.hash_column IS 'Column that gets the hex SHA-256 of the content';
COMMENT ON COLUMN pgchunk.collections.updated_column IS 'Column that gets the time of the last change';

SELECT pg_catalog.pg_extension_config_dump('pgchunk.collections', '');
