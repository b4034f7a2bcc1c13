SELECT pgchunk._ship_strategies();
