package write

import (
	"context"
	"math"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Bank sets the fields of a bank's profile that are given, if any, and returns the profile. A bank is made by its first
// message or by this.
func (a *Appender) Bank(ctx context.Context, bank memory.BankID, u wire.BankUpdate) (wire.BankReply, error) {
	op, wait, err := a.control(wire.WriteControl{Op: u.Op, Wait: u.Wait})
	if err != nil {
		return wire.BankReply{}, err
	}
	if err := checkBank(u); err != nil {
		return wire.BankReply{}, err
	}
	var reply wire.BankReply
	if !u.ReadsOnly() {
		u.Op, u.Wait = "", nil
		w := memory.Write{Bank: bank, Kind: memory.WriteBank, Op: op, Profile: &u}
		if u.Create && a.deps.Conn != nil { // a message makes a bank too
			if w.Upto, err = a.deps.Conn.LastMessage(ctx, bank); err != nil {
				return wire.BankReply{}, err
			}
		}
		out, err := a.write(ctx, w, wait)
		if err != nil {
			return wire.BankReply{}, err
		}
		if u.KeepRecalls != nil && a.deps.Conn != nil { // none of before
			if err := kv.OpenRecalls(a.deps.Conn).Forget(ctx, bank); err != nil {
				return wire.BankReply{}, &opError{op, err}
			}
		}
		reply.Op, reply.Write = out.Op, out.Write
	}
	err = a.deps.Store.Read(ctx, bank, func(r Reader) error {
		var err error
		reply.Bank, err = r.Bank()
		return err
	})
	return reply, err
}

func checkBank(u wire.BankUpdate) error {
	for _, f := range []struct {
		field string
		text  *string
		limit int
	}{{"name", u.Name, memory.MaxName}, {"description", u.Description, memory.MaxFactText}, {"background", u.Background, memory.MaxFactText},
		{"mission", u.Mission, memory.MaxFactText}, {"instructions", u.Instructions, memory.MaxFactText}} {
		if f.text != nil && len(*f.text) > f.limit {
			return memory.Invalid(f.field, "is %d bytes long; at most %d are allowed", len(*f.text), f.limit)
		}
	}
	if u.Zone != nil {
		if _, err := time.LoadLocation(*u.Zone); err != nil || *u.Zone == "Local" {
			return memory.Invalid("zone", "%.64q is no time zone of the IANA database; expected a name as Europe/Lisbon", *u.Zone)
		}
	}
	if u.Disposition != nil {
		if err := u.Disposition.Validate(); err != nil {
			return err
		}
	}
	if u.Windows != nil {
		if err := checkWindows(*u.Windows); err != nil {
			return err
		}
	}
	if t := u.Thresholds; t != nil {
		for _, f := range []struct {
			field string
			v     *float64
		}{{"thresholds.dedup", t.Dedup}, {"thresholds.cluster", t.Cluster}, {"thresholds.diameter", t.Diameter}} {
			if err := request.Share(f.field, f.v); err != nil {
				return err
			}
		}
	}
	if q := u.Quotas; q != nil {
		if math.IsNaN(q.MessagesPerSecond) || q.MessagesPerSecond < 0 || q.Bytes < 0 || q.Facts < 0 || q.TokensPerDay < 0 {
			return memory.Invalid("quotas", "must not be negative; 0 is unbounded")
		}
	}
	return nil
}

func checkWindows(w memory.WindowSettings) error {
	for _, f := range []struct {
		field string
		v     *int
		most  int
	}{{"windows.trigger_every", w.TriggerEvery, 1000}, {"windows.window_tokens", w.WindowTokens, memory.MaxTokens}, {"windows.window_size", w.WindowSize, 1000}} {
		if f.v != nil && (*f.v < 0 || *f.v > f.most) {
			return memory.Invalid(f.field, "is %d; expected 0 to %d", *f.v, f.most)
		}
	}
	for i, r := range w.RoleFilter {
		if !r.Valid() {
			return memory.Invalid(request.Element("windows.role_filter", i), "is not a role; expected user, assistant, system or tool")
		}
	}
	if w.IdleAfter != nil && time.Duration(*w.IdleAfter) > 24*time.Hour {
		return memory.Invalid("windows.idle_after", "is %s; at most 24h are allowed", time.Duration(*w.IdleAfter))
	}
	return nil
}
