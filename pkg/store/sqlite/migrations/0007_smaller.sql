-- The same in fewer bytes.

-- A vector takes a third: ten bits an element (sketch.Pack).
UPDATE fact_vectors SET vector = packed(vector);
UPDATE message_vectors SET vector = packed(vector);
UPDATE composite_vectors SET vector = packed(vector);
DELETE FROM vector_changes WHERE seq < (SELECT max(seq) FROM vector_changes);

-- The vector of a composite is mostly that of one of its facts, and then it is
-- kept there alone. A composite keeps the one it has when the fact's goes.
CREATE TABLE smaller (
  composite INTEGER PRIMARY KEY REFERENCES composites(no) ON DELETE CASCADE,
  bank      INTEGER NOT NULL,
  fact      INTEGER,                -- facts.no whose vector it has, NULL = its own
  vector    BLOB                    -- its own, NULL = that of the fact
);
INSERT INTO smaller SELECT k.composite, k.bank, v.fact, CASE WHEN v.fact IS NULL THEN k.vector END
FROM composite_vectors k JOIN composites c ON c.no = k.composite LEFT JOIN facts f ON f.id = c.representative
LEFT JOIN fact_vectors v ON v.fact = f.no AND v.vector = k.vector ORDER BY k.composite;
DROP TABLE composite_vectors;
ALTER TABLE smaller RENAME TO composite_vectors;
CREATE INDEX composite_vectors_bank ON composite_vectors(bank);
CREATE INDEX composite_vectors_fact ON composite_vectors(fact) WHERE fact IS NOT NULL;
CREATE TRIGGER fact_vectors_change BEFORE UPDATE ON fact_vectors BEGIN
  UPDATE composite_vectors SET fact = NULL, vector = old.vector WHERE fact = old.fact;
END;
CREATE TRIGGER fact_vectors_go BEFORE DELETE ON fact_vectors BEGIN
  UPDATE composite_vectors SET fact = NULL, vector = old.vector WHERE fact = old.fact;
END;

-- The hash of a term takes three bytes.
CREATE TABLE smaller (
  bank  INTEGER NOT NULL,
  level INTEGER NOT NULL,           -- 0 = facts
  term  INTEGER NOT NULL,           -- hash of a stem
  node  INTEGER NOT NULL,           -- facts.no or composites.no
  PRIMARY KEY (bank, level, term, node)
) WITHOUT ROWID;
INSERT INTO smaller SELECT DISTINCT bank, level, term & 8388607, node FROM node_terms ORDER BY 1, 2, 3, 4;
DROP TABLE node_terms;
ALTER TABLE smaller RENAME TO node_terms;

-- What a record belongs to is named by its row.
ALTER TABLE facts ADD COLUMN above INTEGER; -- composites.no of the level-1 composite it belongs to
ALTER TABLE composites ADD COLUMN above INTEGER; -- composites.no of the composite above
UPDATE facts SET above = (SELECT c.no FROM composites c WHERE c.id = facts.parent) WHERE parent IS NOT NULL;
UPDATE composites SET above = (SELECT c.no FROM composites c WHERE c.id = composites.parent) WHERE parent IS NOT NULL;
DROP INDEX facts_parent;
DROP INDEX composites_parent;
ALTER TABLE facts DROP COLUMN parent;
ALTER TABLE composites DROP COLUMN parent;
ALTER TABLE facts RENAME COLUMN above TO parent;
ALTER TABLE composites RENAME COLUMN above TO parent;
CREATE INDEX facts_parent ON facts(parent) WHERE parent IS NOT NULL;
CREATE INDEX composites_parent ON composites(parent) WHERE parent IS NOT NULL;

-- The facts that name an entity, in one order for all who ask: those that are
-- live, by when they were said. The rows of a fact are found by its own columns,
-- so that they need no index and go with it by hand.
CREATE TABLE smaller (
  bank   INTEGER NOT NULL,
  entity TEXT    NOT NULL,
  live   INTEGER NOT NULL,          -- the fact's
  said   INTEGER NOT NULL,          -- the fact's
  fact   INTEGER NOT NULL,          -- facts.no
  PRIMARY KEY (bank, entity, live, said, fact)
) WITHOUT ROWID;
INSERT INTO smaller SELECT bank, entity, live, said, fact FROM fact_entities ORDER BY bank, entity, live, said, fact;
DROP TABLE fact_entities;
ALTER TABLE smaller RENAME TO fact_entities;

-- A write has one op: it is the row. An outcome does not say again what its row says.
CREATE TABLE smaller (
  write   INTEGER PRIMARY KEY,      -- MEM_WRITES sequence
  bank    INTEGER NOT NULL,
  op      TEXT NOT NULL,
  outcome TEXT NOT NULL             -- memory.WriteOutcome as JSON, without op and write
);
INSERT INTO smaller SELECT write, bank, op, json_remove(outcome, '$.op', '$.write') FROM ops ORDER BY write;
DROP TABLE ops;
ALTER TABLE smaller RENAME TO ops;
CREATE UNIQUE INDEX ops_op ON ops(bank, op);

-- Times that are mostly another one are kept as what they differ from it by, in
-- microseconds: facts.recorded and fact_sources.start from said. And facts.valid
-- is '' where a fact holds from when it was said, with no end.
UPDATE facts SET recorded = recorded - said;
UPDATE facts SET valid = '' WHERE said >= 0 AND valid = '[{"from":"' || strftime('%Y-%m-%dT%H:%M:%S', said / 1000000, 'unixepoch') ||
  CASE said % 1000000 WHEN 0 THEN '' ELSE rtrim(printf('.%06d', said % 1000000), '0') END || 'Z","to":null}]';
UPDATE fact_sources SET start = start - said;

-- The file is written anew, to the size of what is left.
INSERT INTO meta (key, value) SELECT 'scrub', '1' WHERE EXISTS (SELECT 1 FROM banks) ON CONFLICT DO NOTHING;
