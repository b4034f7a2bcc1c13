-- Named sets of chunking options. Options without NOT NULL follow max_tokens when they are NULL; every value is
-- checked by the trigger of code/20-strategies.sql, whose errors name the option and what is allowed.
CREATE TABLE pgchunk.strategies (
    name text PRIMARY KEY,
    max_tokens integer NOT NULL DEFAULT 512,
    target_tokens integer,
    min_tokens integer,
    overlap_tokens integer,
    heading_path_tokens integer,
    overlap text NOT NULL DEFAULT 'tokens',
    split_levels integer[] NOT NULL DEFAULT '{1,2,3}',
    heading_line text NOT NULL DEFAULT 'exclude',
    include_preamble boolean NOT NULL DEFAULT true,
    merge text NOT NULL DEFAULT 'next',
    repeat_table_header boolean NOT NULL DEFAULT true,
    include_title boolean NOT NULL DEFAULT true,
    separator text NOT NULL DEFAULT ' > ',
    tokenizer text NOT NULL DEFAULT 'cl100k_base',
    parser text NOT NULL DEFAULT 'auto',
    max_document_bytes integer NOT NULL DEFAULT 67108864,
    is_active boolean NOT NULL DEFAULT false,
    is_default boolean NOT NULL DEFAULT false,
    recipe_hash text NOT NULL,
    customized boolean NOT NULL DEFAULT false,
    -- Deferred to the end of the statement, so that one UPDATE can move the default from one row to another.
    CONSTRAINT strategies_one_default EXCLUDE USING btree (is_default WITH OPERATOR(pg_catalog.=))
        WHERE (is_default) DEFERRABLE INITIALLY IMMEDIATE
);

COMMENT ON TABLE pgchunk.strategies IS
    'Named sets of chunking options; documents get chunks of every active strategy';
COMMENT ON COLUMN pgchunk.strategies.max_tokens IS
    'No chunk''s content is longer, in tokens of the tokenizer (16 or more)';
COMMENT ON COLUMN pgchunk.strategies.target_tokens IS
    'Pieces of a section that has to be cut aim at this; NULL: max_tokens';
COMMENT ON COLUMN pgchunk.strategies.min_tokens IS
    'Smaller sections are merged; NULL: an eighth of max_tokens';
COMMENT ON COLUMN pgchunk.strategies.overlap_tokens IS
    'A piece says at most this much of the piece before again; NULL: an eighth of max_tokens';
COMMENT ON COLUMN pgchunk.strategies.heading_path_tokens IS
    'Budget of the breadcrumb inside max_tokens; NULL: an eighth of max_tokens';
COMMENT ON COLUMN pgchunk.strategies.overlap IS 'Where an overlap starts: tokens, sentence or none';
COMMENT ON COLUMN pgchunk.strategies.split_levels IS 'The heading levels that open a section';
COMMENT ON COLUMN pgchunk.strategies.heading_line IS
    'Whether a section''s heading line is part of raw_content: exclude or include';
COMMENT ON COLUMN pgchunk.strategies.include_preamble IS
    'Whether the text before the first heading makes chunks';
COMMENT ON COLUMN pgchunk.strategies.merge IS 'What a too small section joins: next, previous or none';
COMMENT ON COLUMN pgchunk.strategies.repeat_table_header IS
    'Whether every piece of a split table has the header rows as raw_prefix';
COMMENT ON COLUMN pgchunk.strategies.include_title IS 'Whether the breadcrumb begins with the document''s title';
COMMENT ON COLUMN pgchunk.strategies.separator IS 'What stands between the parts of a breadcrumb';
COMMENT ON COLUMN pgchunk.strategies.tokenizer IS 'cl100k_base, o200k_base or hf:NAME';
COMMENT ON COLUMN pgchunk.strategies.parser IS 'Which block parser is used; the chunks are the same';
COMMENT ON COLUMN pgchunk.strategies.max_document_bytes IS 'Longer documents are refused';
COMMENT ON COLUMN pgchunk.strategies.is_active IS
    'Whether documents that choose no strategy of their own get chunks of this one';
COMMENT ON COLUMN pgchunk.strategies.is_default IS 'The one that preview() and others use when none is named';
COMMENT ON COLUMN pgchunk.strategies.recipe_hash IS
    'Hash of chunker version, options and tokenizer; chunks with another one are stale. Set by a trigger';
COMMENT ON COLUMN pgchunk.strategies.customized IS
    'Whether somebody wrote this row: it is dumped, and an upgrade leaves it alone. Set by a trigger';

SELECT pg_catalog.pg_extension_config_dump('pgchunk.strategies', 'WHERE customized');
