-- These run with the rights of the caller, who must be the owner of the tables.
CREATE OR REPLACE FUNCTION pgchunk.carry_row_security(collection text DEFAULT NULL) RETURNS void
LANGUAGE plpython3u VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].carry_row_security(plpy, collection)
$python$;
COMMENT ON FUNCTION pgchunk.carry_row_security(text) IS
    'Makes the row security of documents hold for their chunks: a role sees the chunks of the documents it sees';

CREATE OR REPLACE FUNCTION pgchunk.drop_row_security(collection text DEFAULT NULL) RETURNS void
LANGUAGE plpython3u VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].drop_row_security(plpy, collection)
$python$;
COMMENT ON FUNCTION pgchunk.drop_row_security(text) IS
    'Takes back what carry_row_security() did';

CREATE OR REPLACE FUNCTION pgchunk.upgrade_tables(collection text DEFAULT NULL) RETURNS text
LANGUAGE plpython3u VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $python$
@PRELUDE@
return GD['pgchunk'].upgrade_tables(plpy, collection)
$python$;
COMMENT ON FUNCTION pgchunk.upgrade_tables(text) IS
    'Brings the tables, triggers and views of a collection to what this version makes; rows and grants stay';
