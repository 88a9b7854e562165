package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// SeedPath returns the default path of a user's seed.
func SeedPath(dir, name string) string {
	return filepath.Join(dir, events.EncodeToken(name)+".nk")
}

// Add makes a key for a user, hands its seed to deliver and adds the user to the directory. Whoever has the seed is the
// user, so nobody else may read it, and it is kept nowhere else. A name that is taken is memory.ErrConflict.
func Add(dir string, n events.Naming, u User, now time.Time, deliver func(seed []byte) error) (User, error) {
	err := change(dir, n, func(b *Registry) error {
		if had, taken := b.Find(u.Name); taken {
			return fmt.Errorf("user %q is there, a %s since %s: %w", u.Name, had.Role, had.Created.Format(time.DateOnly), memory.ErrConflict)
		}
		pair, err := nkeys.CreateUser()
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		defer pair.Wipe()
		if u.Key, err = pair.PublicKey(); err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		u.Created = now.UTC().Truncate(time.Second)
		if err := u.Validate(); err != nil {
			return err
		}
		seed, err := pair.Seed()
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		defer clear(seed)
		if err := deliver(seed); err != nil {
			return err
		}
		b.Users = append(b.Users, u)
		return nil
	})
	return u, err
}

// ToFile writes a seed to a new file that only its owner may read. A file that exists is not touched:
// memory.ErrConflict. The file holds nothing but the seed, not even a line break, because every client can read that.
func ToFile(path string) func(seed []byte) error {
	return func(seed []byte) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists and is not written over: %w", path, memory.ErrConflict)
		}
		if err != nil {
			return fmt.Errorf("write the seed: %w", err)
		}
		_, err = f.Write(seed)
		if err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write the seed: %w", errors.Join(err, os.Remove(path)))
		}
		return nil
	}
}

// Remove removes a user, and its seed if it is still in the directory. An unknown name is memory.ErrNotFound.
func Remove(dir string, n events.Naming, name string) (User, error) {
	var gone User
	err := change(dir, n, func(b *Registry) error {
		u, ok := b.Find(name)
		if !ok {
			return fmt.Errorf("user %q: %w", name, memory.ErrNotFound)
		}
		gone = u
		b.Users = slices.DeleteFunc(b.Users, func(u User) bool { return u.Name == name })
		return nil
	})
	if err != nil {
		return gone, err
	}
	if err := os.Remove(SeedPath(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return gone, fmt.Errorf("remove the seed of %q: %w", name, err)
	}
	return gone, nil
}

// Role says what a user may do.
type Role string

// The roles.
const (
	RoleBot      Role = "bot"      // speaks for one bank
	RoleWorker   Role = "worker"   // a process of one or more stages
	RoleOperator Role = "operator" // asks every bank, administers, reads the streams
	RoleRestorer Role = "restorer" // an operator who may publish for every bank, too: import needs it
)

// User is somebody who may connect. It holds the public half of the key.
type User struct {
	Name    string        `json:"name"` // unlike any other's
	Role    Role          `json:"role"`
	Bank    memory.BankID `json:"bank,omitempty"` // of a bot
	Key     string        `json:"key"`            // public nkey
	Created time.Time     `json:"created"`
}

// Validate reports everything that is wrong with the user.
func (u User) Validate() error {
	if u.Name == "" || len(u.Name) > 128 {
		return memory.Invalid("name", "%q is no name of a user; expected 1 to 128 bytes", u.Name)
	}
	if strings.HasPrefix(u.Name, "$") || strings.HasPrefix(string(u.Bank), "$") {
		return memory.Invalid("name", "%q begins with $, which the broker keeps for itself, as in $SYS", u.Name)
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

// Tenant returns the account of a bot's bank; "" for others, who belong to the account of the streams.
func (u User) Tenant() string {
	if u.Role != RoleBot {
		return ""
	}
	return TenantOf(u.Bank)
}

// TenantOf returns the name of a bank's account.
func TenantOf(bank memory.BankID) string { return "BANK_" + events.EncodeToken(string(bank)) }

// InboxPrefix returns an inbox prefix that a bot may use besides the default one, which clients need where bots share
// an account.
func InboxPrefix(bank memory.BankID) string { return "_INBOX_" + events.EncodeToken(string(bank)) }
