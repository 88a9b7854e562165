-- Which stream was applied, and the last event of it that no forget erases: its sequence and when the broker stored it.
-- '' and 0 = not known. The messages need no such event, for message_events has them all.
ALTER TABLE applied ADD COLUMN log TEXT NOT NULL DEFAULT '';
ALTER TABLE applied ADD COLUMN event INTEGER NOT NULL DEFAULT 0;
ALTER TABLE applied ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
