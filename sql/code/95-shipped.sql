SELECT pgchunk._ship_strategies();

-- Tables this small are never analysed by themselves, and without figures the planner takes them for hundreds of rows.
ANALYZE pgchunk.strategies, pgchunk.recipes;
