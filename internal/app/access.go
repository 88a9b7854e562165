package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// insider is the user that the stages of the embedded server's own process
// connect as. Its key is made at every start and kept in memory alone.
type insider struct {
	pair   nkeys.KeyPair
	public string
}

func newInsider() (insider, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return insider{}, fmt.Errorf("make a key: %w", err)
	}
	public, err := pair.PublicKey()
	return insider{pair, public}, err
}

// option connects as the insider.
func (i insider) option() nats.Option { return nats.Nkey(i.public, i.pair.Sign) }

// rulesOf says to the embedded server what a book of users says.
func rulesOf(b access.Book, n events.Naming, in insider) natsd.Rules {
	offered := access.Offered(n)
	r := natsd.Rules{Doors: natsd.Doors(offered), Answers: access.AnswerWithin}
	for _, bank := range b.Banks() {
		r.Tenants = append(r.Tenants, natsd.Tenant{Name: access.TenantOf(bank), Doors: natsd.Doors(access.Of(n, bank))})
	}
	add := func(name, key, tenant string, p access.Permissions) {
		u := natsd.User{Name: name, Key: key, Tenant: tenant, Publish: p.Publish, Subscribe: p.Subscribe}
		if p.Responds {
			u.Responds = access.AnswerWithin
		}
		r.Users = append(r.Users, u)
	}
	add("eunoe", in.public, "", access.Inside(n))
	for _, u := range b.Users {
		add(string(u.Role)+" "+u.Name, u.Key, u.Tenant(), u.Permissions(n))
	}
	return r
}

// guarded gives the rules of the embedded server, nil where nobody has made
// users: it then listens to this machine alone.
func (c Config) guarded(in insider) (*natsd.Rules, error) {
	b, err := access.Read(c.AuthDirectory())
	if errors.Is(err, memory.ErrNotFound) {
		if !onlyHere(c.Listen) {
			return nil, fmt.Errorf("%sLISTEN is %s, which others can reach, and there are no users: run `eunoe auth init` first (it makes %s), or listen on 127.0.0.1",
				prefix, c.Listen, c.AuthDirectory())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := rulesOf(b, events.Naming{Prefix: c.Prefix}, in)
	return &r, nil
}

// onlyHere reports whether an address can be reached from this machine alone.
func onlyHere(address string) bool {
	ip := net.ParseIP(address)
	return address == "localhost" || ip != nil && ip.IsLoopback()
}

// usersLook is how often the users are looked at while the server runs.
const usersLook = 500 * time.Millisecond

// followUsers gives the server the users again whenever their file changes,
// until ctx ends. A file that is gone or cannot be read changes nothing.
func followUsers(ctx context.Context, c Config, srv *natsd.Server, in insider, log zerolog.Logger) {
	path := filepath.Join(c.AuthDirectory(), "users.json")
	known, _ := os.ReadFile(path) //nolint:errcheck // what cannot be read now is read again
	tick := time.NewTicker(usersLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Equal(text, known) || err != nil && known == nil {
			continue
		}
		known = text
		r, err := c.guarded(in)
		if err == nil && r == nil {
			err = fmt.Errorf("%s is gone", path)
		}
		if err == nil {
			err = srv.SetRules(*r)
		}
		if err != nil {
			log.Error().Err(err).Msg("the users are left as they were")
			continue
		}
		log.Info().Int("users", len(r.Users)-1).Msg("took over the users")
	}
}
