// Package app puts Eunoe together: it reads the settings, opens the broker and
// the store, and runs one stage or all of them until told to stop. It is the
// one place where the parts meet.
package app
