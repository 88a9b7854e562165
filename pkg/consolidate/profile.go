package consolidate

import (
	"cmp"
	"errors"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// profile sets what the update names of the bank's profile and makes the bank
// where it is not there.
func (ws *workspace) profile(u memory.BankUpdate) {
	exists := !ws.bank.Created.IsZero()
	if u.Create && exists {
		ws.refuse(409, "create", "the bank exists")
		return
	}
	b := ws.bank
	b.ID = ws.write.Bank
	for _, f := range []struct{ to, from *string }{
		{&b.Name, u.Name}, {&b.Description, u.Description}, {&b.Background, u.Background}, {&b.Mission, u.Mission}, {&b.Instructions, u.Instructions},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if u.Disposition != nil {
		if err := u.Disposition.Validate(); err != nil {
			var fe *memory.FieldError
			errors.As(err, &fe)
			ws.refuse(400, fe.Field, "%s", fe.Message)
			return
		}
		b.Disposition = *u.Disposition
	}
	if u.Windows != nil {
		b.Windows = u.Windows
	}
	if u.Thresholds != nil {
		b.Thresholds = u.Thresholds
	}
	if u.Quotas != nil {
		b.Quotas = u.Quotas
	}
	op := memory.OutcomeUpdated
	if !exists {
		b.Created, op = ws.write.Time, memory.OutcomeAdded
	}
	if b.Disposition == (memory.Disposition{}) {
		b.Disposition = memory.DefaultDisposition()
	}
	b.Version = ws.write.Seq
	ws.out.Bank = &b
	ws.out.Outcome.Version = b.Version
	ws.tell(memory.ChangeBank, op, string(b.ID))
}

// feedback counts what a recall brought and what of it was used. It moves
// ranking and decay and never content.
func (ws *workspace) feedback(r memory.FeedbackRequest) {
	ids := unite(r.Retrieved, r.Used)
	for _, id := range ids {
		u := memory.Use{ID: id, At: ws.write.Time}
		if slices.Contains(r.Retrieved, id) {
			u.Retrieved = 1
		}
		if slices.Contains(r.Used, id) {
			u.Used = 1
			switch r.Outcome {
			case "success":
				u.Success = 1
			case "failure", "correction":
				u.Failure = 1
			}
		}
		ws.out.Uses = append(ws.out.Uses, u)
	}
	if len(ids) > 0 {
		ws.tell(memory.ChangeUsage, memory.OutcomeUpdated, cmp.Or(r.Recall, ws.write.Op), ids...)
	}
}
