-- Vectors of messages, where the embedder ranks them. Rowids on purpose, as in fact_vectors.
CREATE TABLE message_vectors (
  message INTEGER PRIMARY KEY REFERENCES messages(seq) ON DELETE CASCADE,
  bank    INTEGER NOT NULL,
  vector  BLOB NOT NULL
);
CREATE INDEX message_vectors_bank ON message_vectors(bank);

-- Facts that were stored without a vector and wait for one.
CREATE TABLE unembedded (
  fact INTEGER PRIMARY KEY REFERENCES facts(no) ON DELETE CASCADE
);
INSERT INTO unembedded SELECT no FROM facts WHERE NOT EXISTS (SELECT 1 FROM fact_vectors k WHERE k.fact = facts.no);

-- Which writes of the log hold a vector that came after its record, whether it
-- was taken or not: forgetting the record erases them.
CREATE TABLE vector_events (
  bank  INTEGER NOT NULL,
  id    TEXT NOT NULL,              -- FactID, or the sequence of a message
  write INTEGER NOT NULL,
  PRIMARY KEY (bank, id, write)
) WITHOUT ROWID;
CREATE INDEX vector_events_write ON vector_events(write);
