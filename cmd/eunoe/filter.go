package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// filterFlags are the filters that recall, reflect and list share.
type filterFlags struct {
	records, kinds, types, speakers, entities, topics, tags []string
	session, from, to, asOf                                 string
}

func (f *filterFlags) add(cmd *cobra.Command, records bool) {
	fl := cmd.Flags()
	if records {
		fl.StringSliceVar(&f.records, "records", nil, "only these records: fact, composite, observation, message")
	}
	fl.StringSliceVar(&f.kinds, "kinds", nil, "only these kinds: world, experience, opinion, observation")
	fl.StringSliceVar(&f.types, "types", nil, "only these types: preference, event, constraint, …")
	fl.StringSliceVar(&f.speakers, "speakers", nil, "only what these said")
	fl.StringSliceVar(&f.entities, "entities", nil, "only what names one of these (person:alice)")
	fl.StringSliceVar(&f.topics, "topics", nil, "only these topics")
	fl.StringSliceVar(&f.tags, "tags", nil, "only what has one of these tags")
	fl.StringVar(&f.session, "session", "", "only this session")
	fl.StringVar(&f.from, "from", "", "only from this time on (RFC 3339 or a date)")
	fl.StringVar(&f.to, "to", "", "only up to this time")
	fl.StringVar(&f.asOf, "as-of", "", "what was held true at this time")
}

func (f *filterFlags) filter() (memory.Filter, error) {
	out := memory.Filter{
		Records: typed[memory.Record](f.records), Kinds: typed[memory.Kind](f.kinds), Types: typed[memory.Type](f.types),
		Speakers: f.speakers, Entities: f.entities, Topics: f.topics, Tags: f.tags, Session: memory.SessionID(f.session),
	}
	for _, t := range []struct {
		flag, value string
		end         bool
		to          **time.Time
	}{{"--from", f.from, false, &out.From}, {"--to", f.to, true, &out.To}, {"--as-of", f.asOf, false, &out.AsOf}} {
		at, err := timeFlag(t.flag, t.value, t.end)
		if err != nil {
			return out, err
		}
		*t.to = at
	}
	return out, nil
}

// timeFlag reads a time, or a date: its first instant, or its last with end. "" is nil.
func timeFlag(flag, value string, end bool) (*time.Time, error) {
	if value == "" {
		return nil, nil
	}
	if d, err := time.Parse("2006-01-02", value); err == nil {
		if end {
			d = d.AddDate(0, 0, 1).Add(-time.Microsecond)
		}
		return &d, nil
	}
	t, err := memory.ParseTime(flag, value)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

func typed[T ~string](values []string) []T {
	var out []T
	for _, v := range values {
		out = append(out, T(v))
	}
	return out
}
