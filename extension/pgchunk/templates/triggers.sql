-- Triggers fire in the order of their names: these see the row after the table's other triggers have changed it.
CREATE OR REPLACE TRIGGER zz_pgchunk_before_insert BEFORE INSERT ON $documents
    FOR EACH ROW EXECUTE FUNCTION $before();
CREATE OR REPLACE TRIGGER zz_pgchunk_before_update BEFORE UPDATE ON $documents
    FOR EACH ROW WHEN ($changed) EXECUTE FUNCTION $before();
CREATE OR REPLACE TRIGGER zz_pgchunk_after_insert AFTER INSERT ON $documents
    FOR EACH ROW EXECUTE FUNCTION $after();
CREATE OR REPLACE TRIGGER zz_pgchunk_after_update AFTER UPDATE ON $documents
    FOR EACH ROW WHEN ($rechunk) EXECUTE FUNCTION $after();
