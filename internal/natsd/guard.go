package natsd

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// guard authenticates connections by the rules.
type guard struct {
	srv      *server.Server
	mu       sync.Mutex
	sweepAt  int                // number of admitted connections at which closed ones are removed
	users    map[string]entry   // by key
	admitted map[uint64]string  // keys of connections, by the connection id of the server
	tenants  map[string]*tenant // by name
	exports  map[string]bool    // subjects that are exported
}

type entry struct {
	user    User
	account *server.Account
}

// tenant is an account that was created and its imports. Imports are added and never removed: permissions keep a user
// from one that is no longer allowed.
type tenant struct {
	account *server.Account
	imports map[string]bool
}

func newGuard() *guard {
	return &guard{sweepAt: 1024, users: map[string]entry{}, admitted: map[uint64]string{}, tenants: map[string]*tenant{}, exports: map[string]bool{}}
}

// Check implements server.Authentication. A client proves that it holds its key by signing the nonce of the connection.
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

// nothing is a subject that nobody uses. An empty list would allow everything.
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
		if sig, err = base64.StdEncoding.DecodeString(o.Sig); err != nil { // as some clients encode it
			return false
		}
	}
	key, err := nkeys.FromPublicKey(o.Nkey)
	return err == nil && key.Verify(nonce, sig) == nil
}

// install creates the accounts, exports and imports that the rules need, replaces the users, and returns the
// connections of users whose permissions changed.
func (g *guard) install(r Rules) (cut []uint64, err error) {
	home := g.srv.GlobalAccount()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.export(home, r); err != nil {
		return nil, err
	}
	for _, t := range r.Tenants {
		if err := g.admit(home, t); err != nil {
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

// export exports subjects to the tenants. Repeating it changes nothing.
func (g *guard) export(home *server.Account, r Rules) error {
	offer := func(subjects []string, how func(subject string) error) error {
		for _, s := range subjects {
			if g.exports[s] {
				continue
			}
			if err := how(s); err != nil {
				return fmt.Errorf("nats: export %s: %w", s, err)
			}
			g.exports[s] = true
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
	return errors.Join(offer(r.Exports.Requests, service(server.Singleton)), offer(r.Exports.Intake, service(server.Singleton)), offer(r.Exports.Streamed, service(server.Streamed)),
		offer(r.Exports.Events, func(s string) error { return home.AddStreamExport(s, server.IsPublicExport) }))
}

// admit creates the account of a tenant and the imports that it lacks.
func (g *guard) admit(home *server.Account, t Tenant) error {
	have := g.tenants[t.Name]
	if have == nil {
		account, err := g.srv.RegisterAccount(t.Name)
		if err != nil {
			return fmt.Errorf("nats: make the account of tenant %s: %w", t.Name, err)
		}
		have = &tenant{account: account, imports: map[string]bool{}}
		g.tenants[t.Name] = have
	}
	add := func(subjects []string, how func(subject string) error) error {
		for _, s := range subjects {
			if have.imports[s] {
				continue
			}
			if err := how(s); err != nil {
				return fmt.Errorf("nats: import for tenant %s: %s: %w", t.Name, s, err)
			}
			have.imports[s] = true
		}
		return nil
	}
	request := func(s string) error { return have.account.AddServiceImport(home, s, s) }
	if err := add(t.Imports.Requests, request); err != nil {
		return err
	}
	if err := add(t.Imports.Streamed, request); err != nil {
		return err
	}
	if err := add(t.Imports.Published, func(s string) error {
		to := t.Imports.Intake[slices.Index(t.Imports.Published, s)]
		return have.account.AddServiceImport(home, s, to)
	}); err != nil {
		return err
	}
	return add(t.Imports.Events, func(s string) error { return have.account.AddStreamImport(home, s, "") })
}

// sweep removes connections that are closed.
func (g *guard) sweep() {
	for id := range g.admitted {
		if g.srv.GetClient(id) == nil {
			delete(g.admitted, id)
		}
	}
	g.sweepAt = 2*len(g.admitted) + 1024
}
