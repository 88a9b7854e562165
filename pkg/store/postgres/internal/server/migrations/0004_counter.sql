-- What was counted and noted by triggers is by who writes the rows, once for a transaction.
DROP FUNCTION count_row, count_state, note_vector, keep_vector CASCADE; -- with their triggers
ALTER TABLE row_counts ADD COLUMN gone BIGINT NOT NULL DEFAULT 0;
