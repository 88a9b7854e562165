// Package access decides who may do what: it keeps the users of a deployment with their public keys in a directory, and
// derives the subjects that each may use from their role and from the table of endpoints in package wire. Init, Add,
// Remove and Read keep the directory; User.Permissions and Exports are the rules. Both ways to enforce them come from
// these two: the embedded server is given them as values, and Conf writes them as the configuration of a NATS server of
// one's own.
//
// Every bank that has a bot is an account of the broker, which holds its bots and nothing else. It imports the bank's
// own requests, messages, flushes and changes from the account of the streams, to which workers and operators belong.
package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The files of an access directory. Seeds are stored next to them, one file for each user.
const (
	usersFile = "users.json"
	confFile  = "auth.conf"
	lockFile  = "lock"
)

// ErrNone is the error of reading a directory without users; it is memory.ErrNotFound too.
var ErrNone = errors.New("no users are kept")

// Registry is the list of users, sorted by role and name.
type Registry struct {
	Format int    `json:"format"` // 1
	Users  []User `json:"users"`
}

// Read reads the users of a directory; memory.ErrNotFound when it was never initialised.
func Read(dir string) (Registry, error) {
	b, _, err := read(dir)
	return b, err
}

// read returns the registry and the bytes of its file.
func read(dir string) (Registry, []byte, error) {
	path := filepath.Join(dir, usersFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Registry{}, nil, fmt.Errorf("%w in %s: %w", ErrNone, dir, memory.ErrNotFound)
	}
	if err != nil {
		return Registry{}, nil, fmt.Errorf("users: %w", err)
	}
	var b Registry
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return Registry{}, nil, fmt.Errorf("users: %s cannot be read: %w: %w", path, err, memory.ErrInvalid)
	}
	if err := b.Validate(); err != nil {
		return Registry{}, nil, fmt.Errorf("users: %s: %w", path, err)
	}
	return b, text, nil
}

// Validate reports what is wrong with the users, joined.
func (b Registry) Validate() error {
	var errs []error
	if b.Format != 1 {
		errs = append(errs, memory.Invalid("format", "is %d; this version reads 1", b.Format))
	}
	names, keys := map[string]bool{}, map[string]bool{}
	for _, u := range b.Users {
		errs = append(errs, u.Validate())
		if names[u.Name] {
			errs = append(errs, memory.Invalid("name", "%q is there twice", u.Name))
		}
		if keys[u.Key] {
			errs = append(errs, memory.Invalid("key", "of user %q is another's too", u.Name))
		}
		names[u.Name], keys[u.Key] = true, true
	}
	return errors.Join(errs...)
}

// Find returns the user of a name.
func (b Registry) Find(name string) (User, bool) {
	i := slices.IndexFunc(b.Users, func(u User) bool { return u.Name == name })
	if i < 0 {
		return User{}, false
	}
	return b.Users[i], true
}

// Banks returns the banks that have a bot, sorted.
func (b Registry) Banks() []memory.BankID {
	var out []memory.BankID
	for _, u := range b.Users {
		if u.Role == RoleBot {
			out = append(out, u.Bank)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Init makes a directory without users. One that exists stays as it is, and made is false.
func Init(dir string, n events.Naming) (made bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("directory of the users: %w", err)
	}
	err = locked(dir, func() error {
		_, err := Read(dir)
		if memory.Code(err) != 404 {
			return err
		}
		made = true
		return write(dir, n, Registry{Format: 1, Users: []User{}})
	})
	return made, err
}

// change reads the users, calls fn to change them, and writes them. Concurrent calls wait for each other.
func change(dir string, n events.Naming, how func(*Registry) error) error {
	if _, err := Read(dir); err != nil {
		return err
	}
	return locked(dir, func() error {
		b, err := Read(dir)
		if err != nil {
			return err
		}
		if err := how(&b); err != nil {
			return err
		}
		slices.SortFunc(b.Users, func(x, y User) int {
			if x.Role != y.Role {
				return strings.Compare(string(x.Role), string(y.Role))
			}
			return strings.Compare(x.Name, y.Name)
		})
		if err := b.Validate(); err != nil {
			return err
		}
		return write(dir, n, b)
	})
}

func locked(dir string, f func() error) (err error) {
	l, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the users: %w", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if err := syscall.Flock(int(l.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the users: %w", err)
	}
	return f()
}

// write replaces both files atomically. The file of the users comes last, because the embedded server watches it.
func write(dir string, n events.Naming, b Registry) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{confFile, []byte(Conf(b, n))}, {usersFile, append(text, '\n')}} {
		if err := replace(filepath.Join(dir, f.name), f.text); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

func replace(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
