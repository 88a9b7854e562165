-- How many transactions have changed the file: two connections that read the
-- same number read the same state (beside.go).
INSERT INTO meta (key, value) VALUES ('commits', 0);
