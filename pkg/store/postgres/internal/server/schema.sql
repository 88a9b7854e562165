-- The tables of a store: the same names and columns as those of SQLite's, with what SQLite has and PostgreSQL has not.
-- Order is that of bytes everywhere (COLLATE "C").

-- Functions of SQLite that statements of the common dialect use.
CREATE FUNCTION each_number(list BIGINT[]) RETURNS TABLE (value BIGINT, key BIGINT) LANGUAGE sql IMMUTABLE ROWS 100 AS
  $$ SELECT u.value, u.n - 1 FROM pg_catalog.unnest(list) WITH ORDINALITY AS u(value, n) $$;
CREATE FUNCTION each_text(list TEXT[]) RETURNS TABLE (value TEXT, key BIGINT) LANGUAGE sql IMMUTABLE ROWS 100 AS
  $$ SELECT u.value COLLATE "C", u.n - 1 FROM pg_catalog.unnest(list) WITH ORDINALITY AS u(value, n) $$;
CREATE FUNCTION json_extract(body TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
  $$ SELECT (pg_catalog.replace(body, '\u0000', '\ufffd')::pg_catalog.json #>>
    pg_catalog.string_to_array(pg_catalog.ltrim(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(path, '$', ''), '[#-', '.-'), '[', '.'), ']', ''), '.'), '.')) COLLATE "C" $$;
CREATE OPERATOR ->> (LEFTARG = TEXT, RIGHTARG = TEXT, FUNCTION = json_extract);
CREATE FUNCTION json_each(body TEXT) RETURNS TABLE (value TEXT, key BIGINT) LANGUAGE sql IMMUTABLE ROWS 10 AS
  $$ SELECT u.value COLLATE "C", u.n - 1 FROM pg_catalog.json_array_elements_text(pg_catalog.replace(body, '\u0000', '\ufffd')::pg_catalog.json) WITH ORDINALITY AS u(value, n) $$;
CREATE FUNCTION json_each(body TEXT, path TEXT) RETURNS TABLE (value TEXT, key BIGINT) LANGUAGE sql IMMUTABLE ROWS 10 AS
  $$ SELECT u.value COLLATE "C", u.n - 1 FROM pg_catalog.json_array_elements_text(pg_catalog.replace(body, '\u0000', '\ufffd')::pg_catalog.json #>
    pg_catalog.string_to_array(pg_catalog.ltrim(pg_catalog.replace(path, '$', ''), '.'), '.')) WITH ORDINALITY AS u(value, n) $$;
CREATE FUNCTION json_valid(body TEXT) RETURNS BOOLEAN LANGUAGE plpgsql IMMUTABLE AS
  $$ BEGIN PERFORM body::pg_catalog.json; RETURN TRUE; EXCEPTION WHEN OTHERS THEN RETURN FALSE; END $$;
CREATE FUNCTION json_quote(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.to_json(value)::TEXT $$;
CREATE FUNCTION json_array_length(body TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS
  $$ SELECT pg_catalog.json_array_length(body::pg_catalog.json)::BIGINT $$;
CREATE FUNCTION json_remove(body TEXT, path TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
  $$ SELECT '{' || coalesce(pg_catalog.string_agg(pg_catalog.to_json(u.key)::TEXT || ':' || u.value::TEXT, ',' ORDER BY u.n), '') || '}'
     FROM pg_catalog.json_each(body::pg_catalog.json) WITH ORDINALITY AS u(key, value, n) WHERE '$.' || u.key <> path $$;
CREATE FUNCTION json_list_add(list TEXT, value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE WHEN list IS NULL THEN '' ELSE list || ',' END || coalesce(pg_catalog.to_json(value)::TEXT, 'null') $$;
CREATE FUNCTION json_list_add(list TEXT, value JSON) RETURNS TEXT LANGUAGE sql IMMUTABLE AS
  $$ SELECT CASE WHEN list IS NULL THEN '' ELSE list || ',' END || coalesce(value::TEXT, 'null') $$;
CREATE FUNCTION json_list_end(list TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$ SELECT '[' || coalesce(list, '') || ']' $$;
CREATE AGGREGATE json_group_array(TEXT) (SFUNC = json_list_add, STYPE = TEXT, FINALFUNC = json_list_end);
CREATE AGGREGATE json_group_array(JSON) (SFUNC = json_list_add, STYPE = TEXT, FINALFUNC = json_list_end);
CREATE FUNCTION instr(text TEXT, part TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS $$ SELECT pg_catalog.strpos(text, part)::BIGINT $$;
CREATE FUNCTION glob(pattern TEXT, text TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE AS
  $$ SELECT text ~ ('^' || pg_catalog.replace(pg_catalog.replace(pattern, '*', '.*'), '?', '.') || '$') $$;

CREATE TABLE meta (
  key   TEXT COLLATE "C" PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);
CREATE TABLE applied (
  stream TEXT COLLATE "C"    NOT NULL,
  part   BIGINT NOT NULL,
  seq    BIGINT NOT NULL, log TEXT COLLATE "C" NOT NULL DEFAULT '', event BIGINT NOT NULL DEFAULT 0, stored BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, part)
);
CREATE FUNCTION next_banks() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN (SELECT coalesce(max(no), 0) + 1 FROM banks); END $$;
CREATE TABLE banks (
  no      BIGINT PRIMARY KEY DEFAULT next_banks(),
  id      TEXT COLLATE "C" NOT NULL UNIQUE,
  profile TEXT COLLATE "C" NOT NULL,            -- memory.Bank as JSON, '' = there is no such bank
  version BIGINT NOT NULL DEFAULT 0,
  consolidated BIGINT NOT NULL DEFAULT 0, -- MEM_WRITES sequence of the last consolidate that ran
  erased  BIGINT NOT NULL DEFAULT 0 -- 1 = erased and not made again since
, observed BIGINT NOT NULL DEFAULT 0, written BIGINT NOT NULL DEFAULT 0);
CREATE TABLE message_events (
  seq     BIGINT PRIMARY KEY,      -- MEM_MESSAGES sequence
  bank    BIGINT NOT NULL REFERENCES banks(no),
  session TEXT COLLATE "C" NOT NULL,
  state   TEXT COLLATE "C" NOT NULL,            -- memory.MessageState
  stored  BIGINT NOT NULL,
  id      TEXT COLLATE "C",                     -- of a duplicate: the id it came under, NULL for others
  speaker TEXT COLLATE "C"                      -- of a duplicate, NULL for others
);
CREATE INDEX message_events_state ON message_events(bank, state);
CREATE INDEX message_events_id ON message_events(bank, id) WHERE id IS NOT NULL;
CREATE INDEX message_events_pending ON message_events(bank, session, seq) WHERE state = 'pending';
CREATE TABLE messages (
  seq       BIGINT PRIMARY KEY,
  bank      BIGINT NOT NULL REFERENCES banks(no),
  id        TEXT COLLATE "C" NOT NULL,
  session   TEXT COLLATE "C" NOT NULL,
  role      TEXT COLLATE "C" NOT NULL,
  speaker   TEXT COLLATE "C" NOT NULL,
  content   TEXT COLLATE "C" NOT NULL,
  caption   TEXT COLLATE "C" NOT NULL,
  indexed   TEXT COLLATE "C",                   -- content with secrets redacted, NULL where it is the same
  grams     TEXT COLLATE "C" NOT NULL,          -- Chinese, Japanese, Korean uni- and bigrams
  time      BIGINT NOT NULL,       -- when it was said
  stored    BIGINT NOT NULL,
  topic     TEXT COLLATE "C" NOT NULL,
  replaces  TEXT COLLATE "C" NOT NULL,
  replaced  BIGINT,                -- said time of the message that replaces it
  recalled  BIGINT NOT NULL,
  images    TEXT COLLATE "C",                   -- JSON
  metadata  TEXT COLLATE "C",                   -- JSON
  extra     TEXT COLLATE "C",                   -- JSON
  UNIQUE (bank, id)
);
CREATE INDEX messages_session ON messages(bank, session, seq);
CREATE INDEX messages_time ON messages(bank, time);
CREATE INDEX messages_replaces ON messages(bank, replaces) WHERE replaces <> '';
CREATE VIEW messages_text AS
  SELECT seq, coalesce(indexed, content) AS content, caption, grams FROM messages;
CREATE TABLE replacements (
  bank BIGINT NOT NULL,
  id   TEXT COLLATE "C" NOT NULL,               -- the message replaced
  by   BIGINT NOT NULL,            -- sequence of the message that replaces it
  time BIGINT NOT NULL,
  PRIMARY KEY (bank, id)
);
CREATE TABLE windows (
  id         TEXT COLLATE "C" PRIMARY KEY,
  bank       BIGINT NOT NULL,
  session    TEXT COLLATE "C" NOT NULL,
  first      BIGINT NOT NULL,
  last       BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  outcome    TEXT COLLATE "C" NOT NULL,         -- memory.WindowOutcome
  reason     TEXT COLLATE "C" NOT NULL,
  write      BIGINT NOT NULL       -- MEM_WRITES sequence of the end that stands
);
CREATE FUNCTION next_facts() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN (SELECT coalesce(max(no), 0) + 1 FROM facts); END $$;
CREATE TABLE facts (
  no         BIGINT PRIMARY KEY DEFAULT next_facts(),
  id         TEXT COLLATE "C" NOT NULL UNIQUE,
  bank       BIGINT NOT NULL REFERENCES banks(no),
  key        TEXT COLLATE "C",                  -- the caller's name, unique among live facts of a bank
  text       TEXT COLLATE "C" NOT NULL,
  grams      TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,
  type       TEXT COLLATE "C" NOT NULL,
  topic      TEXT COLLATE "C" NOT NULL,
  speaker    TEXT COLLATE "C" NOT NULL,
  role       TEXT COLLATE "C" NOT NULL,
  session    TEXT COLLATE "C" NOT NULL,
  occurred_from BIGINT,
  occurred_to   BIGINT,
  said       BIGINT NOT NULL,
  recorded   BIGINT NOT NULL,
  live       BIGINT NOT NULL,      -- 1 = memory.Fact.Live
  valid      TEXT COLLATE "C" NOT NULL,         -- JSON, []memory.Interval
  subject    TEXT COLLATE "C", attribute TEXT COLLATE "C", value TEXT COLLATE "C",
  superseded TEXT COLLATE "C", merged TEXT COLLATE "C",
  confidence DOUBLE PRECISION NOT NULL,
  entities   TEXT COLLATE "C" NOT NULL,         -- JSON
  tags       TEXT COLLATE "C" NOT NULL,         -- JSON
  ops        TEXT COLLATE "C" NOT NULL,         -- JSON
  outcome    TEXT COLLATE "C", metadata TEXT COLLATE "C",   -- JSON
  version    BIGINT NOT NULL,
  pinned     BIGINT NOT NULL,
  extractor  TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,
  parent BIGINT, bounds TEXT COLLATE "C");
CREATE INDEX facts_key ON facts(bank, key) WHERE key IS NOT NULL;
CREATE INDEX facts_version ON facts(bank, version) WHERE live = 1;
CREATE INDEX facts_said ON facts(bank, said);
CREATE INDEX facts_state ON facts(bank, subject, attribute, said) WHERE subject IS NOT NULL;
CREATE INDEX facts_session ON facts(bank, session);
CREATE INDEX facts_superseded ON facts(superseded) WHERE superseded IS NOT NULL;
CREATE INDEX facts_merged ON facts(merged) WHERE merged IS NOT NULL;
CREATE TABLE fact_sources (
  fact    BIGINT NOT NULL REFERENCES facts(no) ON DELETE CASCADE,
  seq     BIGINT NOT NULL,
  message TEXT COLLATE "C" NOT NULL,
  said    BIGINT NOT NULL,
  start   BIGINT NOT NULL,
  PRIMARY KEY (fact, seq)
);
CREATE INDEX fact_sources_seq ON fact_sources(seq);
CREATE TABLE entity_counts (
  bank   BIGINT NOT NULL,
  entity TEXT COLLATE "C" NOT NULL,
  live   BIGINT NOT NULL,
  PRIMARY KEY (bank, entity)
);
CREATE INDEX entity_counts_live ON entity_counts(bank, live);
CREATE TABLE fact_vectors (
  fact   BIGINT PRIMARY KEY REFERENCES facts(no) ON DELETE CASCADE,
  bank   BIGINT NOT NULL,
  vector BYTEA NOT NULL
);
CREATE INDEX fact_vectors_bank ON fact_vectors(bank);
CREATE VIEW facts_text AS
  SELECT no, text, grams FROM facts;
CREATE FUNCTION next_composites() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN (SELECT coalesce(max(no), 0) + 1 FROM composites); END $$;
CREATE TABLE composites (
  no         BIGINT PRIMARY KEY DEFAULT next_composites(),
  id         TEXT COLLATE "C" NOT NULL UNIQUE,
  bank       BIGINT NOT NULL REFERENCES banks(no),
  level      BIGINT NOT NULL,
  text       TEXT COLLATE "C" NOT NULL,
  grams      TEXT COLLATE "C" NOT NULL,
  representative TEXT COLLATE "C" NOT NULL,
  children   TEXT COLLATE "C" NOT NULL,         -- JSON, direct
  entities   TEXT COLLATE "C" NOT NULL,         -- JSON
  tags       TEXT COLLATE "C" NOT NULL,         -- JSON
  occurred_from BIGINT,
  occurred_to   BIGINT,
  said       BIGINT NOT NULL,
  confidence DOUBLE PRECISION NOT NULL,
  version    BIGINT NOT NULL,
  made TEXT COLLATE "C" NOT NULL DEFAULT '', parent BIGINT);
CREATE INDEX composites_bank ON composites(bank, level);
CREATE TABLE composite_entities (
  bank      BIGINT NOT NULL,
  entity    TEXT COLLATE "C" NOT NULL,
  composite BIGINT NOT NULL REFERENCES composites(no) ON DELETE CASCADE,
  PRIMARY KEY (bank, entity, composite)
);
CREATE INDEX composite_entities_composite ON composite_entities(composite);
CREATE VIEW composites_text AS
  SELECT no, text, grams FROM composites;
CREATE TABLE entities (
  bank     BIGINT NOT NULL,
  id       TEXT COLLATE "C" NOT NULL,
  type     TEXT COLLATE "C" NOT NULL,
  name     TEXT COLLATE "C" NOT NULL,
  redirect TEXT COLLATE "C",
  PRIMARY KEY (bank, id)
);
CREATE TABLE entity_names (
  bank   BIGINT NOT NULL,
  name   TEXT COLLATE "C" NOT NULL,             -- normalised
  entity TEXT COLLATE "C" NOT NULL,
  spelling TEXT COLLATE "C" NOT NULL,           -- as written
  PRIMARY KEY (bank, name, entity, spelling)
);
CREATE INDEX entity_names_entity ON entity_names(bank, entity);
CREATE TABLE relations (
  bank     BIGINT NOT NULL,
  source   TEXT COLLATE "C" NOT NULL,
  target   TEXT COLLATE "C" NOT NULL,
  type     TEXT COLLATE "C" NOT NULL,
  strength DOUBLE PRECISION NOT NULL,
  facts    TEXT COLLATE "C" NOT NULL,           -- JSON
  PRIMARY KEY (bank, source, target, type)
);
CREATE INDEX relations_target ON relations(bank, target);
CREATE TABLE conflicts (
  id      TEXT COLLATE "C" PRIMARY KEY,
  bank    BIGINT NOT NULL,
  a       TEXT COLLATE "C" NOT NULL,
  b       TEXT COLLATE "C" NOT NULL,
  reason  TEXT COLLATE "C" NOT NULL,
  state   TEXT COLLATE "C" NOT NULL,
  winner  TEXT COLLATE "C",
  version BIGINT NOT NULL
);
CREATE INDEX conflicts_state ON conflicts(bank, state);
CREATE INDEX conflicts_a ON conflicts(a);
CREATE INDEX conflicts_b ON conflicts(b);
CREATE FUNCTION next_observations() RETURNS BIGINT LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN (SELECT coalesce(max(no), 0) + 1 FROM observations); END $$;
CREATE TABLE observations (
  no         BIGINT PRIMARY KEY DEFAULT next_observations(),
  id         TEXT COLLATE "C" NOT NULL UNIQUE,
  bank       BIGINT NOT NULL REFERENCES banks(no),
  type       TEXT COLLATE "C" NOT NULL,
  subject    TEXT COLLATE "C" NOT NULL,
  text       TEXT COLLATE "C" NOT NULL,
  grams      TEXT COLLATE "C" NOT NULL,
  reasoning  TEXT COLLATE "C" NOT NULL,
  confidence DOUBLE PRECISION NOT NULL,
  entities   TEXT COLLATE "C" NOT NULL,         -- JSON
  said       BIGINT NOT NULL,
  given      BIGINT NOT NULL,
  version    BIGINT NOT NULL
, made TEXT COLLATE "C" NOT NULL DEFAULT '');
CREATE INDEX observations_bank ON observations(bank);
CREATE TABLE observation_facts (
  observation BIGINT NOT NULL REFERENCES observations(no) ON DELETE CASCADE,
  fact        TEXT COLLATE "C" NOT NULL,        -- FactID
  PRIMARY KEY (observation, fact)
);
CREATE INDEX observation_facts_fact ON observation_facts(fact);
CREATE VIEW observations_text AS
  SELECT no, text, grams FROM observations;
CREATE TABLE uses (
  bank      BIGINT NOT NULL,
  record    TEXT COLLATE "C" NOT NULL,
  retrieved BIGINT NOT NULL,
  used      BIGINT NOT NULL,
  success   BIGINT NOT NULL,
  failure   BIGINT NOT NULL,
  at        BIGINT NOT NULL,       -- last use
  PRIMARY KEY (bank, record)
);
CREATE TABLE repeats (
  bank  BIGINT NOT NULL,
  op    TEXT COLLATE "C" NOT NULL,
  write BIGINT NOT NULL,
  PRIMARY KEY (bank, op, write)
);
CREATE TABLE tombstones (
  bank BIGINT NOT NULL,
  id   TEXT COLLATE "C" NOT NULL,               -- message id, or "op:" and the op of a hand-retained fact
  seq  BIGINT NOT NULL,            -- MEM_MESSAGES sequence, or MEM_WRITES sequence for an op
  PRIMARY KEY (bank, id, seq)
);
CREATE INDEX tombstones_seq ON tombstones(bank, seq);
CREATE TABLE outbox (
  no   BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  bank TEXT COLLATE "C" NOT NULL,
  what TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL                -- memory.Change as JSON
);
CREATE TABLE erasures (
  no     BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  bank   TEXT COLLATE "C" NOT NULL,
  stream TEXT COLLATE "C" NOT NULL,
  seq    BIGINT NOT NULL,
  op     TEXT COLLATE "C" NOT NULL,
  whole  BIGINT NOT NULL           -- 1 = nothing of the event stays
);
CREATE INDEX messages_speaker ON messages(bank, speaker);
CREATE INDEX facts_speaker ON facts(bank, speaker);
CREATE INDEX messages_topic ON messages(bank, topic) WHERE topic <> '';
CREATE INDEX facts_topic ON facts(bank, topic) WHERE topic <> '';
CREATE INDEX messages_replaced ON messages(bank, seq) WHERE replaced IS NOT NULL;
CREATE INDEX windows_session ON windows(bank, session, last);
CREATE INDEX facts_ended ON facts(bank, no) WHERE live = 0;
CREATE TABLE row_counts (
  bank   BIGINT NOT NULL,
  record TEXT COLLATE "C"    NOT NULL,          -- memory.Record
  n      BIGINT NOT NULL,
  first  BIGINT NOT NULL,          -- row number, no greater than any there is
  last   BIGINT NOT NULL,          -- row number, no less than any there is
  gone   BIGINT NOT NULL DEFAULT 0, -- how often words of the records went
  PRIMARY KEY (bank, record)
);
CREATE TABLE pending_models (
  bank  BIGINT NOT NULL,
  kind  TEXT COLLATE "C" NOT NULL,              -- memory.PendingKind
  id    TEXT COLLATE "C" NOT NULL,              -- FactID, CompositeID, or the op of a request
  write BIGINT NOT NULL,           -- MEM_WRITES sequence it waits since
  at    BIGINT NOT NULL,           -- time of that write
  body  TEXT COLLATE "C" NOT NULL,              -- memory.PendingQuestion as JSON, without what stands beside it
  PRIMARY KEY (bank, kind, id)
);
CREATE TABLE decisions (
  bank   BIGINT NOT NULL,
  fact   TEXT COLLATE "C" NOT NULL,             -- the newer fact
  target TEXT COLLATE "C" NOT NULL,             -- the older one
  write  BIGINT NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  made   TEXT COLLATE "C" NOT NULL,             -- the fact that an update made of both, '' for none
  reason TEXT COLLATE "C" NOT NULL,
  model  TEXT COLLATE "C" NOT NULL,
  prompt TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (bank, fact, target, write)
);
CREATE INDEX decisions_target ON decisions(bank, target);
CREATE INDEX decisions_made ON decisions(bank, made) WHERE made <> '';
CREATE TABLE derived (
  bank  BIGINT NOT NULL,
  fact  TEXT COLLATE "C" NOT NULL,
  write BIGINT NOT NULL,
  PRIMARY KEY (bank, fact, write)
);
CREATE TABLE message_vectors (
  message BIGINT PRIMARY KEY REFERENCES messages(seq) ON DELETE CASCADE,
  bank    BIGINT NOT NULL,
  vector  BYTEA NOT NULL
);
CREATE INDEX message_vectors_bank ON message_vectors(bank);
CREATE TABLE unembedded (
  fact BIGINT PRIMARY KEY REFERENCES facts(no) ON DELETE CASCADE
);
CREATE TABLE vector_events (
  bank  BIGINT NOT NULL,
  id    TEXT COLLATE "C" NOT NULL,              -- FactID, or the sequence of a message
  write BIGINT NOT NULL,
  PRIMARY KEY (bank, id, write)
);
CREATE INDEX vector_events_write ON vector_events(write);
CREATE TABLE usage (
  bank       BIGINT NOT NULL,
  day        TEXT COLLATE "C" NOT NULL,         -- 2026-05-20
  stage      TEXT COLLATE "C" NOT NULL,
  model      TEXT COLLATE "C" NOT NULL,         -- provider and model
  calls      BIGINT NOT NULL,
  failed     BIGINT NOT NULL,      -- among the calls
  prompt     BIGINT NOT NULL,      -- tokens, cached ones included
  cached     BIGINT NOT NULL,
  completion BIGINT NOT NULL,
  PRIMARY KEY (bank, day, stage, model)
);
CREATE TABLE usage_events (
  bank BIGINT NOT NULL,
  op   TEXT COLLATE "C" NOT NULL,
  time BIGINT NOT NULL,
  PRIMARY KEY (bank, op, time)
);
CREATE TABLE vector_changes (
  seq    BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  bank   BIGINT NOT NULL,
  record TEXT COLLATE "C"    NOT NULL,          -- memory.Record
  no     BIGINT NOT NULL           -- row number of the record
);
CREATE TABLE composite_vectors (
  composite BIGINT PRIMARY KEY REFERENCES composites(no) ON DELETE CASCADE,
  bank      BIGINT NOT NULL,
  fact      BIGINT,                -- facts.no whose vector it has, NULL = its own
  vector    BYTEA                    -- its own, NULL = that of the fact
);
CREATE INDEX composite_vectors_bank ON composite_vectors(bank);
CREATE INDEX composite_vectors_fact ON composite_vectors(fact) WHERE fact IS NOT NULL;
CREATE TABLE node_terms (
  bank  BIGINT   NOT NULL,
  level BIGINT   NOT NULL,         -- 0 = facts
  node  BIGINT   NOT NULL,         -- facts.no or composites.no
  keys  BIGINT[] NOT NULL,         -- the hash of each stem with bank and level (terms.go)
  PRIMARY KEY (bank, level, node)
);
CREATE INDEX node_terms_keys ON node_terms USING gin (keys) WITH (fastupdate = off);
CREATE INDEX facts_parent ON facts(parent) WHERE parent IS NOT NULL;
CREATE INDEX composites_parent ON composites(parent) WHERE parent IS NOT NULL;
CREATE TABLE fact_entities (
  bank   BIGINT NOT NULL,
  entity TEXT COLLATE "C"    NOT NULL,
  live   BIGINT NOT NULL,          -- the fact's
  said   BIGINT NOT NULL,          -- the fact's
  fact   BIGINT NOT NULL,          -- facts.no
  PRIMARY KEY (bank, entity, live, said, fact)
);
CREATE TABLE ops (
  write   BIGINT PRIMARY KEY,      -- MEM_WRITES sequence
  bank    BIGINT NOT NULL,
  op      TEXT COLLATE "C" NOT NULL,
  outcome TEXT COLLATE "C" NOT NULL             -- memory.WriteOutcome as JSON, without op and write
);
CREATE UNIQUE INDEX ops_op ON ops(bank, op);
CREATE INDEX facts_state_end ON facts(bank, subject, attribute,
  (CASE WHEN live = 1 OR valid IN ('', '[]') THEN '~' ELSE coalesce(substr(json_extract(valid, '$[#-1].to'), 1, 19), '~') END))
  WHERE subject IS NOT NULL AND merged IS NULL;
CREATE INDEX facts_occurred ON facts(bank, occurred_from, occurred_to) WHERE occurred_from IS NOT NULL;
CREATE INDEX facts_occurred_to ON facts(bank, occurred_to) WHERE occurred_from IS NULL AND occurred_to IS NOT NULL;
CREATE INDEX facts_held ON facts(bank, (CASE WHEN json_valid(valid) THEN rtrim(json_extract(valid, '$[0].from'), 'Z') END))
  WHERE valid <> '';
CREATE INDEX erasures_bank ON erasures(bank, no);
CREATE TABLE state_counts (
  bank  BIGINT NOT NULL REFERENCES banks(no),
  state TEXT COLLATE "C" NOT NULL,              -- memory.MessageState
  n     BIGINT NOT NULL,
  PRIMARY KEY (bank, state)
);
CREATE TABLE pending_counts (
  bank    BIGINT NOT NULL REFERENCES banks(no),
  session TEXT COLLATE "C" NOT NULL,
  n       BIGINT NOT NULL,
  PRIMARY KEY (bank, session)
);
CREATE TABLE undos (
  bank  BIGINT NOT NULL REFERENCES banks(no),
  write BIGINT NOT NULL,           -- sequence in MEM_WRITES
  op    TEXT COLLATE "C" NOT NULL,              -- of the apply
  body  TEXT COLLATE "C" NOT NULL,              -- memory.Undo
  PRIMARY KEY (bank, write)
);
CREATE INDEX undos_op ON undos (bank, op);
CREATE TABLE ahead (
  bank TEXT COLLATE "C" PRIMARY KEY,
  seq  BIGINT NOT NULL
);

-- Text indexes (words.go).
CREATE TABLE messages_fts (bank BIGINT NOT NULL, rowid BIGINT NOT NULL, part BIGINT NOT NULL, words TSVECTOR NOT NULL, PRIMARY KEY (bank, rowid, part));
CREATE INDEX messages_fts_words ON messages_fts USING gin (words) WITH (fastupdate = off);
CREATE TABLE facts_fts (LIKE messages_fts INCLUDING ALL);
CREATE TABLE composites_fts (LIKE messages_fts INCLUDING ALL);
CREATE TABLE observations_fts (LIKE messages_fts INCLUDING ALL);

-- Statistics would hold words that forgetting cannot reach in the server's catalogue. None are gathered of texts, but of those
-- that are words of the program.
DO $$
DECLARE c RECORD;
BEGIN
  FOR c IN SELECT a.attrelid::regclass AS name, a.attname FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class t ON t.oid = a.attrelid AND t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'tsvector'::regtype)
      AND a.attname NOT IN ('kind', 'record', 'role', 'state', 'stream', 'type')
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', c.name, c.attname);
  END LOOP;
END $$;

INSERT INTO meta (key, value) VALUES ('commits', '0'), ('version', '5');
INSERT INTO applied (stream, part, seq) VALUES ('MEM_MESSAGES', 0, 0), ('MEM_WRITES', 0, 0);
