package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// SeedPath is where the seed of a user is written unless told otherwise.
func SeedPath(dir, name string) string {
	return filepath.Join(dir, events.EncodeToken(name)+".nk")
}

// Add makes a key for a user, writes its seed with deliver and takes the user
// into the directory's list. The seed is who the user is: nobody else may read
// it, and it is kept nowhere else. A name that is taken is memory.ErrConflict.
func Add(dir string, n events.Naming, u User, now time.Time, deliver func(seed []byte) error) (User, error) {
	err := change(dir, n, func(b *Book) error {
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

// ToFile delivers a seed to a new file that its owner alone may read; a file
// that is there is left alone: memory.ErrConflict. It holds the seed and nothing
// else, no line break either, for that is what every client can read.
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

// Remove takes a user off the list, and its seed from the directory if it is
// still there. A name that is not listed is memory.ErrNotFound.
func Remove(dir string, n events.Naming, name string) (User, error) {
	var gone User
	err := change(dir, n, func(b *Book) error {
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
