-- Two segments of one size are enough for the merges of idle times: a search looks for a word in each.
INSERT INTO messages_fts (messages_fts, rank) VALUES ('usermerge', 2);
INSERT INTO facts_fts (facts_fts, rank) VALUES ('usermerge', 2);
INSERT INTO composites_fts (composites_fts, rank) VALUES ('usermerge', 2);
INSERT INTO observations_fts (observations_fts, rank) VALUES ('usermerge', 2);
