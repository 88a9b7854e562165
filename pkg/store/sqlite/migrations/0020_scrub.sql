-- Keys of the text indexes may hold words that were forgotten: a scrub writes them anew.
INSERT INTO meta (key, value) SELECT 'scrub', '1' WHERE EXISTS (SELECT 1 FROM banks) ON CONFLICT DO NOTHING;
