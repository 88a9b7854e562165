-- What waits for a language model: facts to be held against older ones, composites
-- without a summary, requests that a model is to answer too.
CREATE TABLE pending_models (
  bank  INTEGER NOT NULL,
  kind  TEXT NOT NULL,              -- memory.PendingKind
  id    TEXT NOT NULL,              -- FactID, CompositeID, or the op of a request
  write INTEGER NOT NULL,           -- MEM_WRITES sequence it waits since
  at    INTEGER NOT NULL,           -- time of that write
  body  TEXT NOT NULL,              -- memory.PendingQuestion as JSON, without what stands beside it
  PRIMARY KEY (bank, kind, id)
) WITHOUT ROWID;

-- What became of the decisions of a language model, one row for every pair.
CREATE TABLE decisions (
  bank   INTEGER NOT NULL,
  fact   TEXT NOT NULL,             -- the newer fact
  target TEXT NOT NULL,             -- the older one
  write  INTEGER NOT NULL,
  action TEXT NOT NULL,
  made   TEXT NOT NULL,             -- the fact that an update made of both, '' for none
  reason TEXT NOT NULL,
  model  TEXT NOT NULL,
  prompt TEXT NOT NULL,
  PRIMARY KEY (bank, fact, target, write)
) WITHOUT ROWID;
CREATE INDEX decisions_target ON decisions(bank, target);
CREATE INDEX decisions_made ON decisions(bank, made) WHERE made <> '';

-- Which writes hold words that a model wrote about a fact.
CREATE TABLE derived (
  bank  INTEGER NOT NULL,
  fact  TEXT NOT NULL,
  write INTEGER NOT NULL,
  PRIMARY KEY (bank, fact, write)
) WITHOUT ROWID;

-- Which model a text comes from: memory.Stamp as JSON, '' for none.
ALTER TABLE composites ADD COLUMN made TEXT NOT NULL DEFAULT '';
ALTER TABLE observations ADD COLUMN made TEXT NOT NULL DEFAULT '';
-- MEM_WRITES sequence up to which a model has seen the bank's facts.
ALTER TABLE banks ADD COLUMN observed INTEGER NOT NULL DEFAULT 0;
