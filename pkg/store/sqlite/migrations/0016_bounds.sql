-- When a fact holds, as given by who retained it; NULL = not given.
ALTER TABLE facts ADD COLUMN bounds TEXT;
