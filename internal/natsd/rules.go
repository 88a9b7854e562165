package natsd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
)

// Rules say who may connect and what each user may do. A server with rules rejects everybody else.
//
// The users of a tenant are in an account of its own, which reaches the rest of the server only by the tenant's
// imports. This keeps them from using reply subjects of others: the broker does not check a reply subject against the
// permissions of the sender, so that in a shared account the acknowledgement of a publish could be directed into any
// bucket or stream.
type Rules struct {
	Exports Exports // with wildcards: everything that tenants may import
	Tenants []Tenant
	Users   []User
	// Answers is how long a request of a tenant may be answered; 0 = the default of the server, two minutes.
	Answers time.Duration
}

// Exports are subjects that the account of the streams shares with tenants.
type Exports struct {
	Requests []string // requests with one answer
	Streamed []string // requests with any number of answers
	Events   []string // events that tenants receive
	// Intake are requests that tenants make on other subjects: those of Published, each at its place. A wildcard ends
	// both. What is exported has no Published.
	Intake, Published []string
}

// Tenant is a separate account with what it imports.
type Tenant struct {
	Name    string
	Imports Exports // a part of Rules.Exports: no wildcard stands for another tenant
}

// User is the holder of a key who may connect.
type User struct {
	Name   string // as error messages name it
	Key    string // public nkey
	Tenant string // "" = the account of the streams
	// Publish and Subscribe list the allowed subjects; an empty list allows nothing.
	Publish, Subscribe []string
	// Responds is how long the user may answer what it receives, any number of times; 0 = not at all.
	Responds time.Duration
}

// equal reports whether two users have the same permissions.
func (u User) equal(v User) bool {
	return u.Key == v.Key && u.Tenant == v.Tenant && u.Responds == v.Responds &&
		slices.Equal(u.Publish, v.Publish) && slices.Equal(u.Subscribe, v.Subscribe)
}

// Validate returns every rule that is not valid, joined.
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
