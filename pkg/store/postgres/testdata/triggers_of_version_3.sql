-- The triggers of version 3, which migrations/0004_counter.sql removes.
-- How many rows a bank has. The name of the record and the column of the row number are arguments.
CREATE FUNCTION count_row() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE number BIGINT;
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE row_counts SET n = n - 1 WHERE bank = old.bank AND record = TG_ARGV[0];
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] = 'message' THEN number := new.seq; ELSE number := new.no; END IF;
  INSERT INTO row_counts AS c (bank, record, n, first, last) VALUES (new.bank, TG_ARGV[0], 1, number, number)
  ON CONFLICT (bank, record) DO UPDATE SET n = c.n + 1, first = least(c.first, number), last = greatest(c.last, number);
  RETURN NULL;
END $$;
CREATE TRIGGER messages_counted AFTER INSERT OR DELETE ON messages FOR EACH ROW EXECUTE FUNCTION count_row('message');
CREATE TRIGGER facts_counted AFTER INSERT OR DELETE ON facts FOR EACH ROW EXECUTE FUNCTION count_row('fact');
CREATE TRIGGER composites_counted AFTER INSERT OR DELETE ON composites FOR EACH ROW EXECUTE FUNCTION count_row('composite');
CREATE TRIGGER observations_counted AFTER INSERT OR DELETE ON observations FOR EACH ROW EXECUTE FUNCTION count_row('observation');

-- How many message events of a bank are in each state, and how many of a session are pending.
CREATE FUNCTION count_state() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND old.state = new.state THEN
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    UPDATE state_counts SET n = n - 1 WHERE bank = old.bank AND state = old.state;
    IF old.state = 'pending' THEN
      UPDATE pending_counts SET n = n - 1 WHERE bank = old.bank AND session = old.session;
      DELETE FROM pending_counts WHERE bank = old.bank AND session = old.session AND n = 0;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO state_counts AS c VALUES (new.bank, new.state, 1) ON CONFLICT (bank, state) DO UPDATE SET n = c.n + 1;
    IF new.state = 'pending' THEN
      INSERT INTO pending_counts AS c VALUES (new.bank, new.session, 1) ON CONFLICT (bank, session) DO UPDATE SET n = c.n + 1;
    END IF;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER message_events_counted AFTER INSERT OR DELETE OR UPDATE OF state ON message_events FOR EACH ROW EXECUTE FUNCTION count_state();

-- Which vectors came, changed or went, in the order of the commits.
CREATE FUNCTION note_vector() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_ARGV[0] = 'fact' THEN
    IF TG_OP = 'DELETE' THEN
      INSERT INTO vector_changes (bank, record, no) VALUES (old.bank, 'fact', old.fact);
    ELSE
      INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'fact', new.fact);
    END IF;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO vector_changes (bank, record, no) VALUES (old.bank, 'message', old.message);
  ELSE
    INSERT INTO vector_changes (bank, record, no) VALUES (new.bank, 'message', new.message);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER fact_vectors_noted AFTER INSERT OR UPDATE OR DELETE ON fact_vectors FOR EACH ROW EXECUTE FUNCTION note_vector('fact');
CREATE TRIGGER message_vectors_noted AFTER INSERT OR UPDATE OR DELETE ON message_vectors FOR EACH ROW EXECUTE FUNCTION note_vector('message');

-- A composite keeps the vector that it has when the fact's goes.
CREATE FUNCTION keep_vector() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  UPDATE composite_vectors SET fact = NULL, vector = old.vector WHERE fact = old.fact;
  IF TG_OP = 'DELETE' THEN
    RETURN old;
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER fact_vectors_kept BEFORE UPDATE OR DELETE ON fact_vectors FOR EACH ROW EXECUTE FUNCTION keep_vector();
