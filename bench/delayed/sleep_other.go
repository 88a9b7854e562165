//go:build !linux

package delayed

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
