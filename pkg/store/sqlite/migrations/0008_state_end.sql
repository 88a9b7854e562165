-- The facts of an attribute of a subject by when they ended, '~' for those that
-- did not: what a new value is set between (View.FactsOfStateSince), however
-- often the attribute changed.
CREATE INDEX facts_state_end ON facts(bank, subject, attribute,
  (CASE WHEN live = 1 OR valid IN ('', '[]') THEN '~' ELSE ifnull(substr(json_extract(valid, '$[#-1].to'), 1, 19), '~') END))
  WHERE subject IS NOT NULL AND merged IS NULL;
