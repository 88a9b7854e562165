package natsd

import (
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// guard lets those connect whom the rules name.
type guard struct {
	srv      *server.Server
	mu       sync.Mutex
	sweepAt  int                // how many connections are remembered before those that are gone are dropped
	users    map[string]entry   // by key
	admitted map[uint64]string  // connections, by the server's number, with their keys
	tenants  map[string]*tenant // by name
	doors    map[string]bool    // what is offered to them
}

type entry struct {
	user    User
	account *server.Account
}

// tenant is an account that was made and the doors it has. Doors are added and
// never taken away: a user who may no longer use one is refused by permission.
type tenant struct {
	account *server.Account
	doors   map[string]bool
}

func newGuard() *guard {
	return &guard{sweepAt: 1024, users: map[string]entry{}, admitted: map[uint64]string{}, tenants: map[string]*tenant{}, doors: map[string]bool{}}
}

// Check is asked by the server for each connection. Who connects signs a
// number that the server made up for this connection.
func (g *guard) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	g.mu.Lock()
	defer g.mu.Unlock()
	e, ok := g.users[o.Nkey]
	if !ok || !signed(o, c.GetNonce()) {
		return false
	}
	perms := &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: orNothing(e.user.Publish)},
		Subscribe: &server.SubjectPermission{Allow: orNothing(e.user.Subscribe)},
	}
	if e.user.Responds > 0 {
		perms.Response = &server.ResponsePermission{MaxMsgs: -1, Expires: e.user.Responds}
	}
	c.RegisterUser(&server.User{Username: e.user.Name, Account: e.account, Permissions: perms})
	g.admitted[c.GetID()] = e.user.Key
	if len(g.admitted) > g.sweepAt {
		g.sweep()
	}
	return true
}

// nothing is a subject that nobody uses: an empty list would allow everything.
const nothing = "_NOTHING"

func orNothing(allow []string) []string {
	if len(allow) == 0 {
		return []string{nothing}
	}
	return allow
}

func signed(o *server.ClientOpts, nonce []byte) bool {
	if len(nonce) == 0 {
		return false
	}
	sig, err := base64.RawURLEncoding.DecodeString(o.Sig)
	if err != nil {
		if sig, err = base64.StdEncoding.DecodeString(o.Sig); err != nil { // as some clients write it
			return false
		}
	}
	key, err := nkeys.FromPublicKey(o.Nkey)
	return err == nil && key.Verify(nonce, sig) == nil
}

// install makes the accounts and doors the rules need, takes the users over and
// gives the connections of those who are no longer allowed what they were.
func (g *guard) install(r Rules) (cut []uint64, err error) {
	home := g.srv.GlobalAccount()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.export(home, r); err != nil {
		return nil, err
	}
	for _, t := range r.Tenants {
		if err := g.open(home, t); err != nil {
			return nil, err
		}
	}
	users := make(map[string]entry, len(r.Users))
	for _, u := range r.Users {
		e := entry{user: u, account: home}
		if u.Tenant != "" {
			e.account = g.tenants[u.Tenant].account
		}
		users[u.Key] = e
	}
	for id, key := range g.admitted {
		if now, ok := users[key]; !ok || !now.user.equal(g.users[key].user) {
			cut = append(cut, id)
			delete(g.admitted, id)
		}
	}
	g.users = users
	return cut, nil
}

// export offers the doors to the tenants; a second time changes nothing.
func (g *guard) export(home *server.Account, r Rules) error {
	offer := func(subjects []string, how func(subject string) error) error {
		for _, s := range subjects {
			if g.doors[s] {
				continue
			}
			if err := how(s); err != nil {
				return fmt.Errorf("nats: open the door %s: %w", s, err)
			}
			g.doors[s] = true
		}
		return nil
	}
	service := func(kind server.ServiceRespType) func(string) error {
		return func(s string) error {
			err := home.AddServiceExportWithResponse(s, kind, server.IsPublicExport)
			if err == nil && r.Answers > 0 {
				err = home.SetServiceExportResponseThreshold(s, r.Answers)
			}
			return err
		}
	}
	return errors.Join(offer(r.Doors.Requests, service(server.Singleton)), offer(r.Doors.Streamed, service(server.Streamed)),
		offer(r.Doors.Events, func(s string) error { return home.AddStreamExport(s, server.IsPublicExport) }))
}

// open makes a tenant's account and the doors it misses.
func (g *guard) open(home *server.Account, t Tenant) error {
	have := g.tenants[t.Name]
	if have == nil {
		account, err := g.srv.RegisterAccount(t.Name)
		if err != nil {
			return fmt.Errorf("nats: make the account of tenant %s: %w", t.Name, err)
		}
		have = &tenant{account: account, doors: map[string]bool{}}
		g.tenants[t.Name] = have
	}
	add := func(subjects []string, how func(subject string) error) error {
		for _, s := range subjects {
			if have.doors[s] {
				continue
			}
			if err := how(s); err != nil {
				return fmt.Errorf("nats: give tenant %s the door %s: %w", t.Name, s, err)
			}
			have.doors[s] = true
		}
		return nil
	}
	request := func(s string) error { return have.account.AddServiceImport(home, s, s) }
	if err := add(t.Doors.Requests, request); err != nil {
		return err
	}
	if err := add(t.Doors.Streamed, request); err != nil {
		return err
	}
	return add(t.Doors.Events, func(s string) error { return have.account.AddStreamImport(home, s, "") })
}

// sweep drops what is remembered of connections that are gone.
func (g *guard) sweep() {
	for id := range g.admitted {
		if g.srv.GetClient(id) == nil {
			delete(g.admitted, id)
		}
	}
	g.sweepAt = 2*len(g.admitted) + 1024
}
