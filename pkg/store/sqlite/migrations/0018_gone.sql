-- How often words of a bank's messages or facts went: rows that were deleted, facts whose text changed. While it stays the
-- same, what was read of the rows up to a number is still all that they hold.
ALTER TABLE row_counts ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER messages_uncounted;
CREATE TRIGGER messages_uncounted AFTER DELETE ON messages BEGIN
  UPDATE row_counts SET n = n - 1, gone = gone + 1 WHERE bank = old.bank AND record = 'message';
END;
DROP TRIGGER facts_uncounted;
CREATE TRIGGER facts_uncounted AFTER DELETE ON facts BEGIN
  UPDATE row_counts SET n = n - 1, gone = gone + 1 WHERE bank = old.bank AND record = 'fact';
END;
CREATE TRIGGER facts_reworded AFTER UPDATE OF text ON facts WHEN old.text <> new.text BEGIN
  UPDATE row_counts SET gone = gone + 1 WHERE bank = old.bank AND record = 'fact';
END;
