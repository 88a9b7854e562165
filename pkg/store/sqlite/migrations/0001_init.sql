-- A row of banks with an empty profile is no bank: it only gives a place to the
-- op of a write to a bank that is not there, or to what is left of an erased one.
-- A reader looks for "profile <> ''".
--
-- Every FTS5 table is told by hand what changes, in the same transaction: the
-- old values with its 'delete' command, then the new ones. No row that has text
-- is ever REPLACEd.
--
-- Times are integers: microseconds since 1970 in UTC. JSON columns hold what is
-- only ever read whole. "no" columns are row numbers of this file and mean
-- nothing outside it; ids are the public names.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The last sequence applied per stream and partition: the fence of house rules.
CREATE TABLE applied (
  stream TEXT    NOT NULL,
  part   INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (stream, part)
) WITHOUT ROWID;
INSERT INTO applied (stream, part, seq) VALUES ('MEM_MESSAGES', 0, 0), ('MEM_WRITES', 0, 0);

CREATE TABLE banks (
  no      INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  profile TEXT NOT NULL,            -- memory.Bank as JSON, '' = there is no such bank
  version INTEGER NOT NULL DEFAULT 0,
  consolidated INTEGER NOT NULL DEFAULT 0, -- MEM_WRITES sequence of the last consolidate that ran
  erased  INTEGER NOT NULL DEFAULT 0 -- 1 = erased and not made again since
);

-- One row per message event of the log, duplicates and forgotten ones too.
CREATE TABLE message_events (
  seq     INTEGER PRIMARY KEY,      -- MEM_MESSAGES sequence
  bank    INTEGER NOT NULL REFERENCES banks(no),
  session TEXT NOT NULL,
  state   TEXT NOT NULL,            -- memory.MessageState
  stored  INTEGER NOT NULL,
  id      TEXT,                     -- of a duplicate: the id it came under, NULL for others
  speaker TEXT                      -- of a duplicate, NULL for others
);
CREATE INDEX message_events_state ON message_events(bank, state);
CREATE INDEX message_events_id ON message_events(bank, id) WHERE id IS NOT NULL;
CREATE INDEX message_events_pending ON message_events(bank, session, seq) WHERE state = 'pending';

CREATE TABLE messages (
  seq       INTEGER PRIMARY KEY,
  bank      INTEGER NOT NULL REFERENCES banks(no),
  id        TEXT NOT NULL,
  session   TEXT NOT NULL,
  role      TEXT NOT NULL,
  speaker   TEXT NOT NULL,
  content   TEXT NOT NULL,
  caption   TEXT NOT NULL,
  indexed   TEXT,                   -- content with secrets redacted, NULL where it is the same
  grams     TEXT NOT NULL,          -- Chinese, Japanese, Korean uni- and bigrams
  time      INTEGER NOT NULL,       -- when it was said
  stored    INTEGER NOT NULL,
  topic     TEXT NOT NULL,
  replaces  TEXT NOT NULL,
  replaced  INTEGER,                -- said time of the message that replaces it
  recalled  INTEGER NOT NULL,
  images    TEXT,                   -- JSON
  metadata  TEXT,                   -- JSON
  extra     TEXT,                   -- JSON
  UNIQUE (bank, id)
);
CREATE INDEX messages_session ON messages(bank, session, seq);
CREATE INDEX messages_time ON messages(bank, time);
CREATE INDEX messages_replaces ON messages(bank, replaces) WHERE replaces <> '';

CREATE VIEW messages_text AS
  SELECT seq, 'b' || bank AS bank, coalesce(indexed, content) AS content, caption, grams FROM messages;
CREATE VIRTUAL TABLE messages_fts USING fts5(
  bank, content, caption, grams,
  content = 'messages_text', content_rowid = 'seq', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE messages_terms USING fts5vocab(messages_fts, 'row');

-- Replacements in effect: the window of the replacing message was applied.
CREATE TABLE replacements (
  bank INTEGER NOT NULL,
  id   TEXT NOT NULL,               -- the message replaced
  by   INTEGER NOT NULL,            -- sequence of the message that replaces it
  time INTEGER NOT NULL,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

CREATE TABLE windows (
  id         TEXT PRIMARY KEY,
  bank       INTEGER NOT NULL,
  session    TEXT NOT NULL,
  first      INTEGER NOT NULL,
  last       INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  outcome    TEXT NOT NULL,         -- memory.WindowOutcome
  reason     TEXT NOT NULL,
  write      INTEGER NOT NULL       -- MEM_WRITES sequence of the end that stands
) WITHOUT ROWID;

CREATE TABLE facts (
  no         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  bank       INTEGER NOT NULL REFERENCES banks(no),
  key        TEXT,                  -- the caller's name, unique among live facts of a bank
  text       TEXT NOT NULL,
  grams      TEXT NOT NULL,
  kind       TEXT NOT NULL,
  type       TEXT NOT NULL,
  topic      TEXT NOT NULL,
  speaker    TEXT NOT NULL,
  role       TEXT NOT NULL,
  session    TEXT NOT NULL,
  occurred_from INTEGER,
  occurred_to   INTEGER,
  said       INTEGER NOT NULL,
  recorded   INTEGER NOT NULL,
  live       INTEGER NOT NULL,      -- 1 = memory.Fact.Live
  valid      TEXT NOT NULL,         -- JSON, []memory.Interval
  subject    TEXT, attribute TEXT, value TEXT,
  superseded TEXT, merged TEXT,
  confidence REAL NOT NULL,
  entities   TEXT NOT NULL,         -- JSON
  tags       TEXT NOT NULL,         -- JSON
  ops        TEXT NOT NULL,         -- JSON
  outcome    TEXT, metadata TEXT,   -- JSON
  version    INTEGER NOT NULL,
  pinned     INTEGER NOT NULL,
  extractor  TEXT NOT NULL,
  model      TEXT NOT NULL,
  parent     TEXT                   -- the level-1 composite it belongs to
);
CREATE INDEX facts_key ON facts(bank, key) WHERE key IS NOT NULL;
CREATE INDEX facts_version ON facts(bank, version) WHERE live = 1;
CREATE INDEX facts_said ON facts(bank, said);
CREATE INDEX facts_occurred ON facts(bank, occurred_from) WHERE occurred_from IS NOT NULL;
CREATE INDEX facts_state ON facts(bank, subject, attribute, said) WHERE subject IS NOT NULL;
CREATE INDEX facts_session ON facts(bank, session);
CREATE INDEX facts_superseded ON facts(superseded) WHERE superseded IS NOT NULL;
CREATE INDEX facts_merged ON facts(merged) WHERE merged IS NOT NULL;
CREATE INDEX facts_parent ON facts(parent) WHERE parent IS NOT NULL;

CREATE TABLE fact_sources (
  fact    INTEGER NOT NULL REFERENCES facts(no) ON DELETE CASCADE,
  seq     INTEGER NOT NULL,
  message TEXT NOT NULL,
  said    INTEGER NOT NULL,
  start   INTEGER NOT NULL,
  PRIMARY KEY (fact, seq)
) WITHOUT ROWID;
CREATE INDEX fact_sources_seq ON fact_sources(seq);

CREATE TABLE fact_entities (
  bank   INTEGER NOT NULL,
  entity TEXT NOT NULL,
  fact   INTEGER NOT NULL REFERENCES facts(no) ON DELETE CASCADE,
  said   INTEGER NOT NULL,          -- the fact's
  live   INTEGER NOT NULL,          -- the fact's
  PRIMARY KEY (bank, entity, fact)
) WITHOUT ROWID;
CREATE INDEX fact_entities_live ON fact_entities(bank, entity, said) WHERE live = 1;
CREATE INDEX fact_entities_fact ON fact_entities(fact);

-- How many live facts name an entity; no row for none.
CREATE TABLE entity_counts (
  bank   INTEGER NOT NULL,
  entity TEXT NOT NULL,
  live   INTEGER NOT NULL,
  PRIMARY KEY (bank, entity)
) WITHOUT ROWID;
CREATE INDEX entity_counts_live ON entity_counts(bank, live);

-- A rowid table on purpose: without rowids a vector spills onto overflow pages
-- and reading 200 of them takes eight times as long.
CREATE TABLE fact_vectors (
  fact   INTEGER PRIMARY KEY REFERENCES facts(no) ON DELETE CASCADE,
  bank   INTEGER NOT NULL,
  vector BLOB NOT NULL
);
CREATE INDEX fact_vectors_bank ON fact_vectors(bank);

CREATE VIEW facts_text AS
  SELECT no, 'b' || bank AS bank, text, grams FROM facts;
CREATE VIRTUAL TABLE facts_fts USING fts5(
  bank, text, grams,
  content = 'facts_text', content_rowid = 'no', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE facts_terms USING fts5vocab(facts_fts, 'row');

CREATE TABLE composites (
  no         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  bank       INTEGER NOT NULL REFERENCES banks(no),
  level      INTEGER NOT NULL,
  text       TEXT NOT NULL,
  grams      TEXT NOT NULL,
  representative TEXT NOT NULL,
  children   TEXT NOT NULL,         -- JSON, direct
  entities   TEXT NOT NULL,         -- JSON
  tags       TEXT NOT NULL,         -- JSON
  occurred_from INTEGER,
  occurred_to   INTEGER,
  said       INTEGER NOT NULL,
  confidence REAL NOT NULL,
  version    INTEGER NOT NULL,
  parent     TEXT                   -- the composite above
);
CREATE INDEX composites_bank ON composites(bank, level);
CREATE INDEX composites_parent ON composites(parent) WHERE parent IS NOT NULL;

CREATE TABLE composite_entities (
  bank      INTEGER NOT NULL,
  entity    TEXT NOT NULL,
  composite INTEGER NOT NULL REFERENCES composites(no) ON DELETE CASCADE,
  PRIMARY KEY (bank, entity, composite)
) WITHOUT ROWID;
CREATE INDEX composite_entities_composite ON composite_entities(composite);

CREATE TABLE composite_vectors (
  composite INTEGER PRIMARY KEY REFERENCES composites(no) ON DELETE CASCADE,
  bank      INTEGER NOT NULL,
  vector    BLOB NOT NULL
);
CREATE INDEX composite_vectors_bank ON composite_vectors(bank);

-- The words of live nodes, hashed: what finds the candidates that a new node is
-- compared with, per bank and level, at a tenth of a text index's price.
CREATE TABLE node_terms (
  bank  INTEGER NOT NULL,
  level INTEGER NOT NULL,           -- 0 = facts
  term  INTEGER NOT NULL,           -- hash of a stem
  node  INTEGER NOT NULL,           -- facts.no or composites.no
  PRIMARY KEY (bank, level, term, node)
) WITHOUT ROWID;

CREATE VIEW composites_text AS
  SELECT no, 'b' || bank AS bank, text, grams FROM composites;
CREATE VIRTUAL TABLE composites_fts USING fts5(
  bank, text, grams,
  content = 'composites_text', content_rowid = 'no', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE composites_terms USING fts5vocab(composites_fts, 'row');

CREATE TABLE entities (
  bank     INTEGER NOT NULL,
  id       TEXT NOT NULL,
  type     TEXT NOT NULL,
  name     TEXT NOT NULL,
  redirect TEXT,
  PRIMARY KEY (bank, id)
) WITHOUT ROWID;

-- Every spelling of an entity, its own name included, under NormalText.
CREATE TABLE entity_names (
  bank   INTEGER NOT NULL,
  name   TEXT NOT NULL,             -- normalised
  entity TEXT NOT NULL,
  spelling TEXT NOT NULL,           -- as written
  PRIMARY KEY (bank, name, entity, spelling)
) WITHOUT ROWID;
CREATE INDEX entity_names_entity ON entity_names(bank, entity);

CREATE TABLE relations (
  bank     INTEGER NOT NULL,
  source   TEXT NOT NULL,
  target   TEXT NOT NULL,
  type     TEXT NOT NULL,
  strength REAL NOT NULL,
  facts    TEXT NOT NULL,           -- JSON
  PRIMARY KEY (bank, source, target, type)
) WITHOUT ROWID;
CREATE INDEX relations_target ON relations(bank, target);

CREATE TABLE conflicts (
  id      TEXT PRIMARY KEY,
  bank    INTEGER NOT NULL,
  a       TEXT NOT NULL,
  b       TEXT NOT NULL,
  reason  TEXT NOT NULL,
  state   TEXT NOT NULL,
  winner  TEXT,
  version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conflicts_state ON conflicts(bank, state);
CREATE INDEX conflicts_a ON conflicts(a);
CREATE INDEX conflicts_b ON conflicts(b);

CREATE TABLE observations (
  no         INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  bank       INTEGER NOT NULL REFERENCES banks(no),
  type       TEXT NOT NULL,
  subject    TEXT NOT NULL,
  text       TEXT NOT NULL,
  grams      TEXT NOT NULL,
  reasoning  TEXT NOT NULL,
  confidence REAL NOT NULL,
  entities   TEXT NOT NULL,         -- JSON
  said       INTEGER NOT NULL,
  given      INTEGER NOT NULL,
  version    INTEGER NOT NULL
);
CREATE INDEX observations_bank ON observations(bank);

CREATE TABLE observation_facts (
  observation INTEGER NOT NULL REFERENCES observations(no) ON DELETE CASCADE,
  fact        TEXT NOT NULL,        -- FactID
  PRIMARY KEY (observation, fact)
) WITHOUT ROWID;
CREATE INDEX observation_facts_fact ON observation_facts(fact);

CREATE VIEW observations_text AS
  SELECT no, 'b' || bank AS bank, text, grams FROM observations;
CREATE VIRTUAL TABLE observations_fts USING fts5(
  bank, text, grams,
  content = 'observations_text', content_rowid = 'no', tokenize = 'porter unicode61 remove_diacritics 2'
);

-- What feedback reported of a record.
CREATE TABLE uses (
  bank      INTEGER NOT NULL,
  record    TEXT NOT NULL,
  retrieved INTEGER NOT NULL,
  used      INTEGER NOT NULL,
  success   INTEGER NOT NULL,
  failure   INTEGER NOT NULL,
  at        INTEGER NOT NULL,       -- last use
  PRIMARY KEY (bank, record)
) WITHOUT ROWID;

-- The outcome of every write by its op, so that repeating one changes nothing.
CREATE TABLE ops (
  bank    INTEGER NOT NULL,
  op      TEXT NOT NULL,
  write   INTEGER NOT NULL,
  outcome TEXT NOT NULL,            -- memory.WriteOutcome as JSON
  PRIMARY KEY (bank, op)
) WITHOUT ROWID;
CREATE INDEX ops_write ON ops(write);

-- Later events of an op that was applied: they changed nothing, but may hold the same text.
CREATE TABLE repeats (
  bank  INTEGER NOT NULL,
  op    TEXT NOT NULL,
  write INTEGER NOT NULL,
  PRIMARY KEY (bank, op, write)
) WITHOUT ROWID;

-- What was forgotten: names, never text.
CREATE TABLE tombstones (
  bank INTEGER NOT NULL,
  id   TEXT NOT NULL,               -- message id, or "op:" and the op of a hand-retained fact
  seq  INTEGER NOT NULL,            -- MEM_MESSAGES sequence, or MEM_WRITES sequence for an op
  PRIMARY KEY (bank, id, seq)
) WITHOUT ROWID;
CREATE INDEX tombstones_seq ON tombstones(bank, seq);

-- Changes that were committed and are still to be published.
CREATE TABLE outbox (
  no   INTEGER PRIMARY KEY AUTOINCREMENT,
  bank TEXT NOT NULL,
  what TEXT NOT NULL,
  body TEXT NOT NULL                -- memory.Change as JSON
);

-- Stream events that a forget still has to erase from the broker.
CREATE TABLE erasures (
  no     INTEGER PRIMARY KEY AUTOINCREMENT,
  bank   TEXT NOT NULL,
  stream TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  op     TEXT NOT NULL,
  whole  INTEGER NOT NULL           -- 1 = nothing of the event stays
);

-- A deleted row's words leave the pages of an index at once.
INSERT INTO messages_fts (messages_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO composites_fts (composites_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO observations_fts (observations_fts, rank) VALUES ('secure-delete', 1);
