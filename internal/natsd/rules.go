package natsd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
)

// Rules say who may connect and what each may do. A server that has rules
// refuses everybody else.
//
// A user with a tenant lives in an account of its own, which reaches the rest
// of the server through the tenant's doors alone. That is what keeps it from
// naming a reply subject that is not its own: no broker compares a reply
// subject with the rights of its sender, so that in a common account the
// acknowledgement of a publish could be made to land in any bucket or stream.
type Rules struct {
	Doors   Doors // of all tenants, with wildcards: what they may be given
	Tenants []Tenant
	Users   []User
	// Answers is how long a request of a tenant may be answered; 0 = the
	// server's own, two minutes.
	Answers time.Duration
}

// Doors are subjects that lead out of a tenant's account, or into it.
type Doors struct {
	Requests []string // answered once; a publish to a stream is one
	Streamed []string // answered any number of times
	Events   []string // heard
}

// Tenant is an account apart with what it reaches.
type Tenant struct {
	Name  string
	Doors Doors // without wildcards in place of what sets tenants apart
}

// User is who may connect with a key.
type User struct {
	Name   string // in messages
	Key    string // public nkey
	Tenant string // "" = beside the streams
	// Publish and Subscribe list what is allowed; an empty list is nothing.
	Publish, Subscribe []string
	// Responds allows an answer to the reply subject of what it receives, any
	// number of times, for so long; 0 = not.
	Responds time.Duration
}

// equal reports whether two users may do the same.
func (u User) equal(v User) bool {
	return u.Key == v.Key && u.Tenant == v.Tenant && u.Responds == v.Responds &&
		slices.Equal(u.Publish, v.Publish) && slices.Equal(u.Subscribe, v.Subscribe)
}

// Validate reports every rule that cannot hold, joined.
func (r Rules) Validate() error {
	var errs []error
	tenants, keys := map[string]bool{"": true}, map[string]string{}
	for _, t := range r.Tenants {
		if t.Name == "" || tenants[t.Name] {
			errs = append(errs, fmt.Errorf("nats: tenant %q has no name of its own", t.Name))
		}
		tenants[t.Name] = true
	}
	for _, u := range r.Users {
		if !nkeys.IsValidPublicUserKey(u.Key) {
			errs = append(errs, fmt.Errorf("nats: the key of user %q is no public key of a user", u.Name))
		}
		if other, twice := keys[u.Key]; twice {
			errs = append(errs, fmt.Errorf("nats: users %q and %q have one key", other, u.Name))
		}
		keys[u.Key] = u.Name
		if !tenants[u.Tenant] {
			errs = append(errs, fmt.Errorf("nats: user %q is of the tenant %q, which is none", u.Name, u.Tenant))
		}
	}
	return errors.Join(errs...)
}
