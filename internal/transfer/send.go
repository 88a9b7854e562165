package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/internal/console"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// send sends the lines after skip, in order. The lines before are read too, because later ones refer to them.
func (im *Importer) send(ctx context.Context, skip int) (err error) {
	bar := console.NewBar(im.cfg.Progress, im.file.Lines, "sending")
	defer func() { console.EndBar(bar, err) }()
	return im.file.Scan(func(number int, l Line) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if im.cfg.Force || l.Bank == "" {
			l.Bank = im.cfg.Bank
		}
		if !slices.Contains(im.banks, l.Bank) {
			im.banks = append(im.banks, l.Bank)
			if s, err := im.client.Status(ctx, l.Bank); im.cfg.Wait && err == nil {
				im.duplicates[l.Bank] = s.Conservation.Duplicate
			}
		}
		if err := im.line(ctx, number, l, number <= skip); err != nil {
			return err
		}
		if number <= skip {
			return nil
		}
		im.done = number
		bar.Set(number) //nolint:errcheck // a bar that cannot be drawn changes nothing
		return im.save()
	})
}

// line sends one line; sent says that an earlier run did.
func (im *Importer) line(ctx context.Context, number int, l Line, sent bool) error {
	at := target{l.Bank, l.Session}
	switch l.Record {
	case RecordMessage:
		if err := l.identify(im.file.hash, number, im.names); err != nil {
			return err
		}
		im.open = append(slices.DeleteFunc(im.open, func(t target) bool { return t == at }), at)
		if sent {
			return nil
		}
		im.report.Messages++
		return im.insist(ctx, func(ctx context.Context) error {
			_, err := im.client.PublishBody(ctx, l.Bank, l.Session, l.Event)
			return err
		})
	case lineFlush:
		im.open = slices.DeleteFunc(im.open, func(t target) bool { return t == at })
		if sent {
			return nil
		}
		im.report.Flushes++
		return im.flush(ctx, l.Bank, l.Session)
	case lineBank:
		if sent {
			return nil
		}
		return im.setBank(ctx, l)
	case RecordWrite:
		if sent {
			return nil
		}
		im.report.Requests++
		return im.request(ctx, l)
	case "fact":
		return im.expect(l)
	}
	return nil
}

// profilePatience is how long a busy consolidator may take to apply a profile.
const profilePatience = time.Minute

// setBank sets a bank's profile. Its request says not how long to wait: one that is in the log and not applied yet is repeated.
func (im *Importer) setBank(ctx context.Context, l Line) error {
	update := *l.Profile
	update.Op = cmp.Or(update.Op, ulid.Make().String())
	for until := time.Now().Add(profilePatience); ; {
		_, err := im.client.SetBank(ctx, l.Bank, update)
		if !errors.Is(err, memory.ErrDeadline) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
	}
}

// settled waits until every message of the banks is processed, and shows how many are pending.
func (im *Importer) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, im.cfg.Settle)
	defer cancel()
	im.report.Doubles = 0
	for _, bank := range im.banks {
		first, err := im.client.Status(ctx, bank)
		if errors.Is(err, memory.ErrNotFound) {
			continue // the file had nothing for it
		}
		if err != nil && !errors.Is(err, memory.ErrUnavailable) { // a stage that starts late is waited for
			return err
		}
		total := max(1, first.Conservation.Pending)
		bar := console.NewBar(im.cfg.Progress, total, "processing "+console.OneLine(string(bank)))
		last, err := im.client.WaitSettled(ctx, bank, func(s wire.Status) {
			bar.Set(max(0, min(total, total-s.Conservation.Pending))) //nolint:errcheck // a bar that cannot be drawn changes nothing
		})
		console.EndBar(bar, err)
		if err != nil {
			return err
		}
		im.report.Doubles += max(0, last.Conservation.Duplicate-im.duplicates[bank])
	}
	return nil
}

// request repeats an exported request once the records it refers to are there. Facts are retained by a request, because
// their sources have other sequences now. The others are appended to the log with the time at which they were made, so
// that the times they set stay the same.
func (im *Importer) request(ctx context.Context, l Line) error {
	if err := im.flushOpen(ctx); err != nil {
		return err
	}
	if im.report.Requests == 1 {
		if err := im.settled(ctx); err != nil {
			return err
		}
	}
	if l.Request == "retain" {
		return im.retain(ctx, l)
	}
	w := memory.Write{Bank: l.Bank, Op: l.Op}
	if l.Time != nil {
		w.Time = *l.Time
	}
	var err error
	switch l.Request {
	case "edit":
		w.Kind, w.Edit = memory.WriteEdit, &memory.EditWrite{}
		err = memory.DecodeEvent(l.Body, w.Edit)
	case "conflicts":
		w.Kind, w.Conflict = memory.WriteConflict, &wire.ConflictRequest{}
		err = memory.DecodeEvent(l.Body, w.Conflict)
	case "alias":
		w.Kind, w.Alias = memory.WriteAlias, &wire.AliasRequest{}
		err = memory.DecodeEvent(l.Body, w.Alias)
	case "apply":
		var c curation
		if err = memory.DecodeEvent(l.Body, &c); err == nil {
			w.Kind, w.Apply, w.Facts = memory.WriteApply, c.Changes, im.curated(l.Bank, c.Facts)
		}
	case "undo":
		var u wire.UndoRequest
		err = memory.DecodeEvent(l.Body, &u)
		w.Kind, w.Undo = memory.WriteUndo, u.Apply
	case "feedback":
		w.Kind, w.Feedback = memory.WriteFeedback, &wire.FeedbackRequest{}
		err = memory.DecodeEvent(l.Body, w.Feedback)
	case "observe":
		w.Kind, w.Observe = memory.WriteObserve, &wire.ObserveRequest{}
		err = memory.DecodeEvent(l.Body, w.Observe)
	case "consolidate":
		w.Kind, w.Consolidate = memory.WriteConsolidate, &wire.ConsolidateRequest{}
		err = memory.DecodeEvent(l.Body, w.Consolidate)
	}
	if err != nil {
		return err
	}
	if _, err := im.client.Conn().AppendWrite(ctx, w); err != nil {
		return fmt.Errorf("append to the log (it takes credentials made with `eunoe auth add-operator NAME --restore`): %w", err)
	}
	return nil
}

// retain replaces the ids of the sources by the new ones. A vector of a model that this deployment does not have is
// left out: the text is embedded again.
func (im *Importer) retain(ctx context.Context, l Line) error {
	var req wire.RetainRequest
	if err := memory.DecodeEvent(l.Body, &req); err != nil {
		return err
	}
	req.Op = l.Op
	for i := range req.Facts {
		req.Facts[i].Sources = im.renamed(req.Facts[i].Sources)
	}
	_, err := im.client.Retain(ctx, l.Bank, req)
	if errors.Is(err, memory.ErrConflict) {
		for i := range req.Facts {
			req.Facts[i].Vector = nil
		}
		_, err = im.client.Retain(ctx, l.Bank, req)
	}
	return err
}

// renamed returns the ids with those of messages that had none of their own replaced.
func (im *Importer) renamed(ids []memory.MessageID) []memory.MessageID {
	out := make([]memory.MessageID, len(ids))
	for i, id := range ids {
		out[i] = id
		if to, ok := im.names[id]; ok {
			out[i] = to
		}
	}
	return out
}

// exportedFact is a fact of an export and the bank it is imported to.
type exportedFact struct {
	bank memory.BankID
	item memory.Item
}

// expect notes a fact that should exist when everything is processed.
func (im *Importer) expect(l Line) error {
	var it memory.Item
	if err := json.Unmarshal(l.Item, &it); err != nil {
		return memory.Invalid("item", "%v", err)
	}
	it.Sources = im.renamed(it.Sources)
	im.facts = append(im.facts, exportedFact{l.Bank, it})
	return nil
}

// compare looks for each exported fact. One that was not made again and still held is retained as it was exported, with
// its sources; a past one is left out.
func (im *Importer) compare(ctx context.Context) error {
	retained := false
	for _, f := range im.facts {
		id := memory.NewFactID(f.bank, f.item.Text, f.item.Kind)
		now, err := im.client.Get(ctx, f.bank, string(id))
		switch {
		case errors.Is(err, memory.ErrNotFound) && (f.item.Superseded != "" || f.item.Merged != ""):
			im.report.Missing++
		case errors.Is(err, memory.ErrNotFound):
			req := wire.RetainRequest{WriteControl: wire.WriteControl{Op: "import:" + string(id)}, Facts: []memory.FactInput{retainable(f.item)}}
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

// retainable returns an exported item in the form in which retain takes a fact.
func retainable(it memory.Item) memory.FactInput {
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
