-- What takes an apply back, of the last applies of a bank. It holds words: a forget removes all of it.
CREATE TABLE undos (
  bank  INTEGER NOT NULL REFERENCES banks(no),
  write INTEGER NOT NULL,           -- sequence in MEM_WRITES
  op    TEXT NOT NULL,              -- of the apply
  body  TEXT NOT NULL,              -- memory.Undo
  PRIMARY KEY (bank, write)
) WITHOUT ROWID;
CREATE INDEX undos_op ON undos (bank, op);
