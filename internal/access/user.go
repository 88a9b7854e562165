package access

import (
	"time"

	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Role is what a user is.
type Role string

// The roles.
const (
	RoleBot      Role = "bot"      // speaks for one bank
	RoleWorker   Role = "worker"   // a process of one or more stages
	RoleOperator Role = "operator" // asks every bank, administers, reads the streams
	RoleRestorer Role = "restorer" // an operator who may publish for every bank, too: import needs it
)

// User is who may connect. The private half of its key is not here.
type User struct {
	Name    string        `json:"name"` // unlike any other's
	Role    Role          `json:"role"`
	Bank    memory.BankID `json:"bank,omitempty"` // of a bot
	Key     string        `json:"key"`            // public nkey
	Created time.Time     `json:"created"`
}

// Validate reports what keeps a user from being one.
func (u User) Validate() error {
	if u.Name == "" || len(u.Name) > 128 {
		return memory.Invalid("name", "%q is no name of a user; expected 1 to 128 bytes", u.Name)
	}
	switch u.Role {
	case RoleBot:
		if _, err := memory.ParseBankID(string(u.Bank)); err != nil {
			return err
		}
	case RoleWorker, RoleOperator, RoleRestorer:
		if u.Bank != "" {
			return memory.Invalid("bank", "does not go with the role %s of user %q", u.Role, u.Name)
		}
	default:
		return memory.Invalid("role", "%q of user %q is not known; expected bot, worker, operator or restorer", u.Role, u.Name)
	}
	if !nkeys.IsValidPublicUserKey(u.Key) {
		return memory.Invalid("key", "of user %q is no public key of a user", u.Name)
	}
	return nil
}

// Tenant is the account of a bot's bank; "" for the others, who live beside
// the streams.
func (u User) Tenant() string {
	if u.Role != RoleBot {
		return ""
	}
	return TenantOf(u.Bank)
}

// TenantOf is the name of a bank's account.
func TenantOf(bank memory.BankID) string { return "BANK_" + events.EncodeToken(string(bank)) }

// InboxPrefix is an inbox prefix that a bot may use beside the usual one: what
// a client needs where bots share an account.
func InboxPrefix(bank memory.BankID) string { return "_INBOX_" + events.EncodeToken(string(bank)) }
