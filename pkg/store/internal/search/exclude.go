package search

import (
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// addExcluded adds the conditions on what is left out, which no index leads to.
func (r *Reader) addExcluded(x memory.Exclude, facts, messages, composites *conditions) error {
	const among = " NOT IN (SELECT value FROM json_each(?))"
	if len(x.Sessions) > 0 {
		list := engine.List(x.Sessions)
		facts.add("f.session"+among+` AND NOT EXISTS (SELECT 1 FROM fact_sources s CROSS JOIN messages e ON e.seq = s.seq
  WHERE s.fact = f.no AND e.session IN (SELECT value FROM json_each(?)))`, list, list)
		messages.add("m.session"+among, list)
	}
	if len(x.Speakers) > 0 {
		spellings, err := r.spellings("speaker", x.Speakers)
		if err != nil {
			return err
		}
		facts.add("f.speaker"+among, engine.List(spellings))
		messages.add("m.speaker"+among, engine.List(spellings))
	}
	if len(x.IDs) > 0 {
		list := engine.List(x.IDs)
		facts.add("f.id"+among, list)
		messages.add("m.id"+among, list)
		composites.add("c.id"+among, list)
	}
	return nil
}
