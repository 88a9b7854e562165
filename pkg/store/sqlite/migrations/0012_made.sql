-- 1 = a write made the bank, whether or not a message had made it before.
ALTER TABLE banks ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
UPDATE banks SET written = 1 WHERE profile <> '' AND (version > 0 OR EXISTS (SELECT 1 FROM facts f WHERE f.bank = banks.no)
  OR EXISTS (SELECT 1 FROM observations o WHERE o.bank = banks.no));
-- Erasures are carried out bank by bank in turn.
CREATE INDEX erasures_bank ON erasures(bank, no);
-- The ops of forgotten facts are known by their own rows.
DELETE FROM tombstones WHERE EXISTS (SELECT 1 FROM ops o WHERE o.bank = tombstones.bank AND 'op:' || o.op = tombstones.id);
