-- A node's terms stand in one row with an index of them, which takes a quarter of a row for each term.
ALTER TABLE node_terms RENAME TO node_terms_before;
ALTER INDEX node_terms_pkey RENAME TO node_terms_before_pkey;
CREATE TABLE node_terms (
  bank  BIGINT   NOT NULL,
  level BIGINT   NOT NULL,         -- 0 = facts
  node  BIGINT   NOT NULL,         -- facts.no or composites.no
  keys  BIGINT[] NOT NULL,         -- the hash of each stem with bank and level (terms.go)
  PRIMARY KEY (bank, level, node)
);
INSERT INTO node_terms SELECT bank, level, node, array_agg((bank << 31) | (level << 23) | term ORDER BY term)
  FROM node_terms_before GROUP BY bank, level, node ORDER BY bank, level, node;
CREATE INDEX node_terms_keys ON node_terms USING gin (keys) WITH (fastupdate = off);
DROP TABLE node_terms_before;

-- The vector of a composite is mostly that of the fact which represents it, and then it is kept there alone.
UPDATE composite_vectors k SET fact = v.fact, vector = NULL FROM composites c, facts f, fact_vectors v
  WHERE c.no = k.composite AND f.id = c.representative AND f.bank = k.bank AND v.fact = f.no AND v.vector = k.vector;
