-- What happened within a time, and what held at one, is found by these alone
-- (read_filter.go).
DROP INDEX facts_occurred;
CREATE INDEX facts_occurred ON facts(bank, occurred_from, occurred_to) WHERE occurred_from IS NOT NULL;
CREATE INDEX facts_occurred_to ON facts(bank, occurred_to) WHERE occurred_from IS NULL AND occurred_to IS NOT NULL;
CREATE INDEX facts_held ON facts(bank, (CASE WHEN json_valid(valid) THEN rtrim(json_extract(valid, '$[0].from'), 'Z') END))
  WHERE valid <> '';
