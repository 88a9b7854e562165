// Package freeport finds TCP ports for servers that a test or a measurement starts at a known port: a program that must
// come back at its address, or one whose address others are told before it runs.
//
// A port that the system picks for a listener, and that is free again when the listener closes, may be picked once more for
// any connection of the machine before the server starts. So the ports of this package lie outside the ranges
// that systems pick from (Linux: from 32768, macOS and Windows: from 49152), and each is held against the other
// processes that use this package, by a UDP socket of the same number.
package freeport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

const (
	lowest  = 20000
	highest = 32767
	tries   = 1000 // by then some 12,768 ports are as good as all taken
)

// Take returns n ports of the loopback on which nothing listens. They are held until ctx ends.
func Take(ctx context.Context, n int) ([]int, error) {
	out := make([]int, 0, n)
	for range tries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(out) == n {
			return out, nil
		}
		port := lowest + rand.IntN(highest-lowest+1)
		hold, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address(port))
		if err != nil {
			continue // somebody else's
		}
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address(port))
		if err != nil {
			hold.Close() //nolint:errcheck // nothing was sent
			continue
		}
		context.AfterFunc(ctx, func() { hold.Close() }) //nolint:errcheck // nothing was sent
		if err := l.Close(); err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	return nil, errors.New("no free port found between 20000 and 32767")
}

func address(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}
