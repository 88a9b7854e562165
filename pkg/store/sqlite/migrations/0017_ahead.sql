-- How far messages are applied where a bank that sends much is held back: under '' those of all banks, and under its name
-- those of a bank that is held. It is empty while all messages are applied in the order of the log.
CREATE TABLE ahead (
  bank TEXT PRIMARY KEY,
  seq  INTEGER NOT NULL
) WITHOUT ROWID;
