package transfer

import (
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// curation is the body of an apply in an export: its changes as the log has them, and the facts that these refer to by
// index.
type curation struct {
	Facts   []memory.FactInput     `json:"facts,omitempty"`
	Changes []memory.CurationWrite `json:"changes"`
}

// curationOf returns the changes of an apply without the versions that they expected: they are those of another log.
func curationOf(w memory.Write) curation {
	var c curation
	for _, f := range w.Facts {
		in := asInput(f)
		in.Vector = nil // the text is embedded again
		c.Facts = append(c.Facts, in)
	}
	for _, change := range w.Apply {
		change.Version = nil
		c.Changes = append(c.Changes, change)
	}
	return c
}

// curated returns the facts of an apply as a write has them. Their sources are found by their ids.
func (im *Importer) curated(bank memory.BankID, facts []memory.FactInput) []memory.Fact {
	out := make([]memory.Fact, len(facts))
	for i, in := range facts {
		f := memory.Fact{ID: memory.NewFactID(bank, in.Text, in.Kind), Key: in.Key, Text: in.Text, Kind: in.Kind, Type: in.Type, Tags: in.Tags, Speaker: in.Speaker,
			Metadata: in.Metadata, Sources: []memory.Source{}}
		for _, e := range in.Entities {
			f.Entities = append(f.Entities, memory.EntityID(e))
		}
		for _, id := range im.renamed(in.Sources) {
			f.Sources = append(f.Sources, memory.Source{Message: id})
		}
		if in.Said != nil {
			f.Said = *in.Said
		}
		if in.Confidence != nil {
			f.Confidence = *in.Confidence
		}
		if in.Occurred != nil {
			f.Occurred = *in.Occurred
		}
		if v := in.Valid; v != nil {
			f.Bounds = &memory.Bounds{From: v.From, To: v.To, Said: f.Said}
		}
		out[i] = f
	}
	return out
}
