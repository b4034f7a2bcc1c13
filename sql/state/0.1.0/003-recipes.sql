-- What recipe_hash stands for, so that chunk_stale can say in which way chunks are of another recipe than now.
CREATE TABLE pgchunk.recipes (
    recipe_hash text PRIMARY KEY,
    chunker_version integer NOT NULL,
    options jsonb NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    shipped boolean NOT NULL
);

COMMENT ON TABLE pgchunk.recipes IS 'Every recipe that a strategy has or had; written when a strategy is';
COMMENT ON COLUMN pgchunk.recipes.recipe_hash IS 'The hash that chunks and strategies carry';
COMMENT ON COLUMN pgchunk.recipes.chunker_version IS 'Version of the chunker: raised when it gives other chunks';
COMMENT ON COLUMN pgchunk.recipes.options IS 'The options that change chunks, with the values in force';
COMMENT ON COLUMN pgchunk.recipes.recorded_at IS 'When a strategy first had it';
COMMENT ON COLUMN pgchunk.recipes.shipped IS
    'Whether CREATE EXTENSION of this version writes the row, so that a dump need not';

-- The function of the tables' owner through which rechunk() and remove_chunks() write.
ALTER TABLE pgchunk.collections ADD COLUMN worker regprocedure;
COMMENT ON COLUMN pgchunk.collections.worker IS 'Function that writes chunks with the rights of the tables'' owner';

SELECT pg_catalog.pg_extension_config_dump('pgchunk.recipes', 'WHERE NOT shipped');
