package delayed

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep waits, to some 60 µs: timers of the runtime are a millisecond late where nothing else happens.
func sleep(d time.Duration) {
	if d > 0 {
		t := unix.NsecToTimespec(d.Nanoseconds())
		_ = unix.Nanosleep(&t, nil) // one that a signal ends is a little short
	}
}
