package write

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// maxAliases is how many names one request joins.
const maxAliases = 64

// Alias joins several names of one entity, or parts them, and returns the names that the entity has then.
func (a *Appender) Alias(ctx context.Context, bank memory.BankID, r wire.AliasRequest) (wire.AliasReply, error) {
	op, wait, err := a.control(r.WriteControl)
	if err != nil {
		return wire.AliasReply{}, err
	}
	if err := checkAlias("", r); err != nil {
		return wire.AliasReply{}, err
	}
	if err := a.exists(ctx, bank); err != nil {
		return wire.AliasReply{}, err
	}
	r.WriteControl = wire.WriteControl{}
	out, err := a.write(ctx, memory.Write{Bank: bank, Kind: memory.WriteAlias, Op: op, Alias: &r}, wait)
	if err != nil {
		return wire.AliasReply{}, err
	}
	reply := wire.AliasReply{Op: out.Op, Write: out.Write, Aliases: []string{}}
	if len(out.Results) > 0 {
		reply.Entity = memory.EntityID(out.Results[0].ID)
	}
	err = a.deps.Store.Read(ctx, bank, func(rd Reader) error {
		names, err := rd.Spellings([]memory.EntityID{reply.Entity})
		typ, _ := reply.Entity.Split()
		for _, n := range names {
			if memory.NewEntityID(typ, n) != reply.Entity {
				reply.Aliases = append(reply.Aliases, n)
			}
		}
		return err
	})
	return reply, err
}

// checkAlias checks the form of the names; at is what their fields' names begin with.
func checkAlias(at string, r wire.AliasRequest) error {
	if len(r.Aliases) == 0 || len(r.Aliases) > maxAliases {
		return memory.Invalid(at+"aliases", "holds %d names; expected 1 to %d", len(r.Aliases), maxAliases)
	}
	if r.Entity != "" || !r.Remove {
		if err := checkName(at+"entity", r.Entity); err != nil {
			return err
		}
	}
	for i, n := range r.Aliases {
		if err := checkName(request.Element(at+"aliases", i), n); err != nil {
			return err
		}
	}
	return nil
}

func checkName(field, name string) error {
	if strings.TrimSpace(name) == "" || !utf8.ValidString(name) {
		return memory.Invalid(field, "must be a name, or an entity as type:name, in UTF-8")
	}
	if len(name) > memory.MaxName {
		return memory.Invalid(field, "is %d bytes long; at most %d are allowed", len(name), memory.MaxName)
	}
	_, err := memory.ParseEntityID(field, name)
	return err
}
