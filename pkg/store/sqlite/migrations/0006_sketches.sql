-- Which vectors came, changed or went, in the order of the commits: a process
-- that holds sketches of them in memory reads what is new before it looks at
-- them. The latest rows are kept; who is further behind begins anew. A number
-- is never given twice, because the last row always stays.
CREATE TABLE vector_changes (
  seq    INTEGER PRIMARY KEY,
  bank   INTEGER NOT NULL,
  record TEXT    NOT NULL,          -- memory.Record
  no     INTEGER NOT NULL           -- row number of the record
);
CREATE TRIGGER fact_vectors_came AFTER INSERT ON fact_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'fact', new.fact);
END;
CREATE TRIGGER fact_vectors_changed AFTER UPDATE ON fact_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'fact', new.fact);
END;
CREATE TRIGGER fact_vectors_went AFTER DELETE ON fact_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (old.bank, 'fact', old.fact);
END;
CREATE TRIGGER message_vectors_came AFTER INSERT ON message_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'message', new.message);
END;
CREATE TRIGGER message_vectors_changed AFTER UPDATE ON message_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'message', new.message);
END;
CREATE TRIGGER message_vectors_went AFTER DELETE ON message_vectors BEGIN
  INSERT INTO vector_changes (bank, record, no) VALUES (old.bank, 'message', old.message);
END;
