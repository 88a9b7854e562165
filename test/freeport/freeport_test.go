package freeport_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/test/freeport"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestPortsAreFreeAndNobodyElses(t *testing.T) {
	first, err := freeport.Take(t.Context(), 300)
	if err != nil {
		t.Fatal(err)
	}
	second, err := freeport.Take(t.Context(), 300)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(first, second)
	slices.Sort(all)
	if got := len(slices.Compact(all)); got != 600 {
		t.Errorf("%d different ports of 600", got)
	}
	for _, port := range all {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatalf("port %d: %v", port, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAPortIsLetGoWithItsContext(t *testing.T) {
	ctx, done := context.WithCancel(t.Context())
	ports, err := freeport.Take(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	hold := func() error {
		c, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", ports[0]))
		if err == nil {
			err = c.Close()
		}
		return err
	}
	if hold() == nil {
		t.Error("a port that was taken can be taken again")
	}
	done()
	for began := time.Now(); hold() != nil; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("a port was not let go in 10 s")
		}
	}
	if _, err := freeport.Take(ctx, 1); err == nil {
		t.Error("a port was taken for a context that has ended")
	}
}
