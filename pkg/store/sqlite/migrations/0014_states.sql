-- How many message events of a bank are in each state: status is asked often, and a bank may have millions.
CREATE TABLE state_counts (
  bank  INTEGER NOT NULL REFERENCES banks(no),
  state TEXT NOT NULL,              -- memory.MessageState
  n     INTEGER NOT NULL,
  PRIMARY KEY (bank, state)
) WITHOUT ROWID;
INSERT INTO state_counts SELECT bank, state, count(*) FROM message_events GROUP BY bank, state;
CREATE TRIGGER message_events_counted AFTER INSERT ON message_events BEGIN
  INSERT INTO state_counts VALUES (new.bank, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER message_events_uncounted AFTER DELETE ON message_events BEGIN
  UPDATE state_counts SET n = n - 1 WHERE bank = old.bank AND state = old.state;
END;
CREATE TRIGGER message_events_recounted AFTER UPDATE OF state ON message_events WHEN old.state <> new.state BEGIN
  UPDATE state_counts SET n = n - 1 WHERE bank = old.bank AND state = old.state;
  INSERT INTO state_counts VALUES (new.bank, new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- How many messages of a session are pending; a session without any has no row.
CREATE TABLE pending_counts (
  bank    INTEGER NOT NULL REFERENCES banks(no),
  session TEXT NOT NULL,
  n       INTEGER NOT NULL,
  PRIMARY KEY (bank, session)
) WITHOUT ROWID;
INSERT INTO pending_counts SELECT bank, session, count(*) FROM message_events WHERE state = 'pending' GROUP BY bank, session;
CREATE TRIGGER message_events_pends AFTER INSERT ON message_events WHEN new.state = 'pending' BEGIN
  INSERT INTO pending_counts VALUES (new.bank, new.session, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER message_events_gone AFTER DELETE ON message_events WHEN old.state = 'pending' BEGIN
  UPDATE pending_counts SET n = n - 1 WHERE bank = old.bank AND session = old.session;
  DELETE FROM pending_counts WHERE bank = old.bank AND session = old.session AND n = 0;
END;
CREATE TRIGGER message_events_ended AFTER UPDATE OF state ON message_events WHEN old.state = 'pending' AND new.state <> 'pending' BEGIN
  UPDATE pending_counts SET n = n - 1 WHERE bank = old.bank AND session = old.session;
  DELETE FROM pending_counts WHERE bank = old.bank AND session = old.session AND n = 0;
END;
CREATE TRIGGER message_events_reopened AFTER UPDATE OF state ON message_events WHEN old.state <> 'pending' AND new.state = 'pending' BEGIN
  INSERT INTO pending_counts VALUES (new.bank, new.session, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
