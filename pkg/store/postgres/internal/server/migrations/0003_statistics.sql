-- The server's statistics held words that forgetting cannot reach in its catalogue: none are gathered of texts any more, and
-- those that there are go with a change of the type to what it is.
DROP VIEW messages_text, facts_text, composites_text, observations_text;
DO $$
DECLARE c RECORD;
BEGIN
  FOR c IN SELECT a.attrelid::regclass AS name, a.attname, a.atttypid::regtype AS type, l.collname FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class t ON t.oid = a.attrelid AND t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'tsvector'::regtype)
      AND a.attname NOT IN ('kind', 'record', 'role', 'state', 'stream', 'type')
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s %s, ALTER COLUMN %2$I SET STATISTICS 0', c.name, c.attname, c.type,
      'COLLATE ' || quote_ident(c.collname));
  END LOOP;
END $$;
CREATE VIEW messages_text AS
  SELECT seq, coalesce(indexed, content) AS content, caption, grams FROM messages;
CREATE VIEW facts_text AS
  SELECT no, text, grams FROM facts;
CREATE VIEW composites_text AS
  SELECT no, text, grams FROM composites;
CREATE VIEW observations_text AS
  SELECT no, text, grams FROM observations;
