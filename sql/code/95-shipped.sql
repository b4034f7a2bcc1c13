SELECT pgchunk._ship_strategies();

-- A table this small is never analysed by itself, and without figures the planner takes it for hundreds of rows.
ANALYZE pgchunk.strategies;
