-- How many composites and observations a bank has, as it is known of messages
-- and facts.
INSERT INTO row_counts SELECT bank, 'composite', count(*), min(no), max(no) FROM composites GROUP BY bank;
INSERT INTO row_counts SELECT bank, 'observation', count(*), min(no), max(no) FROM observations GROUP BY bank;
CREATE TRIGGER composites_counted AFTER INSERT ON composites BEGIN
  INSERT INTO row_counts (bank, record, n, first, last) VALUES (new.bank, 'composite', 1, new.no, new.no)
  ON CONFLICT (bank, record) DO UPDATE SET n = n + 1, first = min(first, new.no), last = max(last, new.no);
END;
CREATE TRIGGER composites_uncounted AFTER DELETE ON composites BEGIN
  UPDATE row_counts SET n = n - 1 WHERE bank = old.bank AND record = 'composite';
END;
CREATE TRIGGER observations_counted AFTER INSERT ON observations BEGIN
  INSERT INTO row_counts (bank, record, n, first, last) VALUES (new.bank, 'observation', 1, new.no, new.no)
  ON CONFLICT (bank, record) DO UPDATE SET n = n + 1, first = min(first, new.no), last = max(last, new.no);
END;
CREATE TRIGGER observations_uncounted AFTER DELETE ON observations BEGIN
  UPDATE row_counts SET n = n - 1 WHERE bank = old.bank AND record = 'observation';
END;
