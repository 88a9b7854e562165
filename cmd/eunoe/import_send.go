package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// saveEvery is how many lines are sent between two checkpoints.
const saveEvery = 200

// send sends the lines past skip, in order. The lines before are read too, for
// what the later ones refer to.
func (im *importer) send(ctx context.Context, skip int) error {
	in, err := im.file.open()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer in.Close() //nolint:errcheck // it was only read
	bar := newBar(im.progress, im.file.lines, "sending")
	defer bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
	return scanLines(im.file.name, in, func(number int, l importLine) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if im.force || l.Bank == "" {
			l.Bank = im.bank
		}
		if !slices.Contains(im.banks, l.Bank) {
			im.banks = append(im.banks, l.Bank)
		}
		if err := im.line(ctx, number, l, number <= skip); err != nil {
			return err
		}
		if number <= skip {
			return nil
		}
		im.done = number
		bar.Set(number) //nolint:errcheck // a bar that cannot be drawn changes nothing
		if number%saveEvery == 0 {
			return im.save()
		}
		return nil
	})
}

// line sends one line; sent says that an earlier run did.
func (im *importer) line(ctx context.Context, number int, l importLine, sent bool) error {
	at := target{l.Bank, l.Session}
	switch l.Record {
	case lineMessage:
		if err := l.identify(im.file.hash, number, im.names); err != nil {
			return err
		}
		im.open = append(slices.DeleteFunc(im.open, func(t target) bool { return t == at }), at)
		if sent {
			return nil
		}
		im.report.Messages++
		_, err := im.client.PublishBody(ctx, l.Bank, l.Session, l.event)
		return err
	case lineFlush:
		im.open = slices.DeleteFunc(im.open, func(t target) bool { return t == at })
		if sent {
			return nil
		}
		im.report.Flushes++
		_, err := im.client.Flush(ctx, l.Bank, l.Session)
		return err
	case lineBank:
		if sent {
			return nil
		}
		_, err := im.client.SetBank(ctx, l.Bank, *l.Profile)
		return err
	case lineWrite:
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

// flushOpen flushes the sessions that end in a message.
func (im *importer) flushOpen(ctx context.Context) error {
	for _, t := range im.open {
		if _, err := im.client.Flush(ctx, t.bank, t.session); err != nil {
			return err
		}
		im.report.Flushes++
	}
	im.open = nil
	return nil
}

// settled waits until every message of the banks is processed, and shows how many are left.
func (im *importer) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, im.settle)
	defer cancel()
	for _, bank := range im.banks {
		first, err := im.client.Status(ctx, bank)
		if errors.Is(err, memory.ErrNotFound) {
			continue // the file had nothing for it
		}
		if err != nil && !errors.Is(err, memory.ErrUnavailable) { // a stage that starts late is waited for
			return err
		}
		total := max(1, first.Conservation.Pending)
		bar := newBar(im.progress, total, "processing "+oneLine(string(bank)))
		_, err = im.client.WaitSettled(ctx, bank, func(s memory.Status) {
			bar.Set(max(0, min(total, total-s.Conservation.Pending))) //nolint:errcheck // a bar that cannot be drawn changes nothing
		})
		bar.Close() //nolint:errcheck // a bar that cannot be drawn changes nothing
		if err != nil {
			return err
		}
	}
	return nil
}

// request makes a request again that an export kept, when what it speaks of is
// there. Facts are retained through the front door, for their sources stand at
// other places now; the others are appended to the log with the time at which
// they were made, so that what they date is dated as it was.
func (im *importer) request(ctx context.Context, l importLine) error {
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
		w.Kind, w.Conflict = memory.WriteConflict, &memory.ConflictRequest{}
		err = memory.DecodeEvent(l.Body, w.Conflict)
	case "feedback":
		w.Kind, w.Feedback = memory.WriteFeedback, &memory.FeedbackRequest{}
		err = memory.DecodeEvent(l.Body, w.Feedback)
	case "observe":
		w.Kind, w.Observe = memory.WriteObserve, &memory.ObserveRequest{}
		err = memory.DecodeEvent(l.Body, w.Observe)
	case "consolidate":
		w.Kind, w.Consolidate = memory.WriteConsolidate, &memory.ConsolidateRequest{}
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

// retain gives the sources their new names. A vector of a model this
// deployment does not have is left out: the text is embedded anew.
func (im *importer) retain(ctx context.Context, l importLine) error {
	var req memory.RetainRequest
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

// renamed maps the ids of messages that had none of their own.
func (im *importer) renamed(ids []memory.MessageID) []memory.MessageID {
	out := make([]memory.MessageID, len(ids))
	for i, id := range ids {
		out[i] = id
		if to, ok := im.names[id]; ok {
			out[i] = to
		}
	}
	return out
}
