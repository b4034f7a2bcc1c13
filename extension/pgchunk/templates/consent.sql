CREATE FUNCTION $function() RETURNS text LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$consent$$$body$$consent$$;
