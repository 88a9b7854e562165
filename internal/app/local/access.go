package local

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
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/internal/natsd"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// internalUser is the user that the stages in the process of the embedded server connect as. Its key is made at every
// start and kept in memory alone.
type internalUser struct {
	pair   nkeys.KeyPair
	public string
}

func newInternalUser() (internalUser, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return internalUser{}, fmt.Errorf("make a key: %w", err)
	}
	public, err := pair.PublicKey()
	return internalUser{pair, public}, err
}

// option authenticates a connection as the internal user.
func (i internalUser) option() nats.Option { return nats.Nkey(i.public, i.pair.Sign) }

// rulesOf returns the rules of the embedded server for a registry of users.
func rulesOf(b access.Registry, n events.Naming, in internalUser) natsd.Rules {
	offered := access.Offered(n)
	r := natsd.Rules{Exports: natsd.Exports(offered), Answers: access.AnswerWithin}
	for _, bank := range b.Banks() {
		r.Tenants = append(r.Tenants, natsd.Tenant{Name: access.TenantOf(bank), Imports: natsd.Exports(access.Of(n, bank))})
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

// newRules returns the rules of the embedded server; nil where no users are registered: it then listens to this machine
// alone.
func newRules(c settings.Config, in internalUser) (*natsd.Rules, error) {
	b, err := access.Read(c.AuthDirectory())
	if errors.Is(err, memory.ErrNotFound) {
		if !isLoopback(c.Listen) {
			return nil, fmt.Errorf("%sLISTEN is %s, which others can reach, and there are no users: run `eunoe auth init` first (it makes %s), or listen on 127.0.0.1",
				settings.Prefix, c.Listen, c.AuthDirectory())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := rulesOf(b, events.Naming{Prefix: c.Prefix}, in)
	return &r, nil
}

// isLoopback reports whether an address can be reached from this machine alone.
func isLoopback(address string) bool {
	ip := net.ParseIP(address)
	return address == "localhost" || ip != nil && ip.IsLoopback()
}

// usersInterval is how often the registry of users is checked for changes while the server runs.
const usersInterval = 500 * time.Millisecond

// followUsers updates the rules of the server whenever the registry of users changes, until ctx ends. A file that is
// gone or cannot be read changes nothing.
func followUsers(ctx context.Context, c settings.Config, srv *natsd.Server, in internalUser, log zerolog.Logger) {
	path := filepath.Join(c.AuthDirectory(), "users.json")
	last, _ := os.ReadFile(path) //nolint:errcheck // it is read again at the next tick
	tick := time.NewTicker(usersInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Equal(text, last) || err != nil && last == nil {
			continue
		}
		last = text
		r, err := newRules(c, in)
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
