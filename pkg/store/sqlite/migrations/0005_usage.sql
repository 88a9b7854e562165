-- What models took for a bank, by the UTC day of the writes that tell of it.
CREATE TABLE usage (
  bank       INTEGER NOT NULL,
  day        TEXT NOT NULL,         -- 2026-05-20
  stage      TEXT NOT NULL,
  model      TEXT NOT NULL,         -- provider and model
  calls      INTEGER NOT NULL,
  failed     INTEGER NOT NULL,      -- among the calls
  prompt     INTEGER NOT NULL,      -- tokens, cached ones included
  cached     INTEGER NOT NULL,
  completion INTEGER NOT NULL,
  PRIMARY KEY (bank, day, stage, model)
) WITHOUT ROWID;

-- Which events were counted. An event that is appended anew keeps op and time,
-- so that it counts where the first one is gone and nowhere else.
CREATE TABLE usage_events (
  bank INTEGER NOT NULL,
  op   TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (bank, op, time)
) WITHOUT ROWID;
