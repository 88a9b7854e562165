-- From this version on vector_changes also lists facts that ended, or hold again: processes that search follow it, to know which
-- of the rows that they hold a search finds no more. Nothing of the tables changes.
COMMENT ON TABLE vector_changes IS NULL;
