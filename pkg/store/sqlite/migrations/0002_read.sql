-- Who speaks in a bank, by walking from one spelling to the next.
CREATE INDEX messages_speaker ON messages(bank, speaker);
CREATE INDEX facts_speaker ON facts(bank, speaker);
-- And about what, likewise.
CREATE INDEX messages_topic ON messages(bank, topic) WHERE topic <> '';
CREATE INDEX facts_topic ON facts(bank, topic) WHERE topic <> '';
-- The few messages that another took the place of.
CREATE INDEX messages_replaced ON messages(bank, seq) WHERE replaced IS NOT NULL;
-- The window in which a message was new.
CREATE INDEX windows_session ON windows(bank, session, last);
-- The facts that are no longer live.
CREATE INDEX facts_ended ON facts(bank, no) WHERE live = 0;

-- How many messages and facts a bank has, and between which row numbers: what
-- the weight of a word is computed from, without counting at every question.
CREATE TABLE row_counts (
  bank   INTEGER NOT NULL,
  record TEXT    NOT NULL,          -- memory.Record
  n      INTEGER NOT NULL,
  first  INTEGER NOT NULL,          -- row number, no greater than any there is
  last   INTEGER NOT NULL,          -- row number, no less than any there is
  PRIMARY KEY (bank, record)
) WITHOUT ROWID;
INSERT INTO row_counts SELECT bank, 'message', count(*), min(seq), max(seq) FROM messages GROUP BY bank;
INSERT INTO row_counts SELECT bank, 'fact', count(*), min(no), max(no) FROM facts GROUP BY bank;
CREATE TRIGGER messages_counted AFTER INSERT ON messages BEGIN
  INSERT INTO row_counts (bank, record, n, first, last) VALUES (new.bank, 'message', 1, new.seq, new.seq)
  ON CONFLICT (bank, record) DO UPDATE SET n = n + 1, first = min(first, new.seq), last = max(last, new.seq);
END;
CREATE TRIGGER messages_uncounted AFTER DELETE ON messages BEGIN
  UPDATE row_counts SET n = n - 1 WHERE bank = old.bank AND record = 'message';
END;
CREATE TRIGGER facts_counted AFTER INSERT ON facts BEGIN
  INSERT INTO row_counts (bank, record, n, first, last) VALUES (new.bank, 'fact', 1, new.no, new.no)
  ON CONFLICT (bank, record) DO UPDATE SET n = n + 1, first = min(first, new.no), last = max(last, new.no);
END;
CREATE TRIGGER facts_uncounted AFTER DELETE ON facts BEGIN
  UPDATE row_counts SET n = n - 1 WHERE bank = old.bank AND record = 'fact';
END;
