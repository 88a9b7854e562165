package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// exportedFact is a fact as an export shows it, and the bank it goes to.
type exportedFact struct {
	bank memory.BankID
	item memory.Item
}

// expect notes a fact that should be there when all is processed.
func (im *importer) expect(l importLine) error {
	var it memory.Item
	if err := json.Unmarshal(l.Item, &it); err != nil {
		return memory.Invalid("item", "%v", err)
	}
	it.Sources = im.renamed(it.Sources)
	im.facts = append(im.facts, exportedFact{l.Bank, it})
	return nil
}

// compare looks for each exported fact. One that did not come again and still
// held is retained as it was, with its sources; a past one is left out.
func (im *importer) compare(ctx context.Context) error {
	retained := false
	for _, f := range im.facts {
		id := memory.NewFactID(f.bank, f.item.Text, f.item.Kind)
		now, err := im.client.Get(ctx, f.bank, string(id))
		switch {
		case errors.Is(err, memory.ErrNotFound) && (f.item.Superseded != "" || f.item.Merged != ""):
			im.report.Missing++
		case errors.Is(err, memory.ErrNotFound):
			req := memory.RetainRequest{WriteControl: memory.WriteControl{Op: "import:" + string(id)}, Facts: []memory.FactInput{given(f.item)}}
			if _, err := im.client.Retain(ctx, f.bank, req); err != nil {
				return err
			}
			im.report.Retained++
			retained = true
		case err != nil:
			return err
		case sameSet(now.Sources, f.item.Sources):
			im.report.Same++
		default:
			im.report.Differ++
		}
	}
	if retained {
		return im.settled(ctx)
	}
	return nil
}

// given is a fact as a caller of retain gives it.
func given(it memory.Item) memory.FactInput {
	in := memory.FactInput{Key: it.Key, Text: it.Text, Kind: it.Kind, Type: memory.Type(it.Type), Tags: it.Tags, Speaker: it.Speaker,
		Occurred: it.Occurred, Said: it.Said, Sources: it.Sources, Metadata: it.Metadata}
	for _, e := range it.Entities {
		in.Entities = append(in.Entities, string(e))
	}
	if it.Confidence > 0 {
		in.Confidence = &it.Confidence
	}
	return in
}

func sameSet(a, b []memory.MessageID) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}
