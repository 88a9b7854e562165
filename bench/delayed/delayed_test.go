package delayed_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/bench/delayed"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// echo answers with what it is sent.
func echo(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l
}

func TestARoundTripTakesLonger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	echo(t, "unix", filepath.Join(dir, ".s.PGSQL.5499"))
	tcp := echo(t, "tcp", "127.0.0.1:0")
	for _, dsn := range []string{
		"postgres://ida@/eunoe?host=" + dir + "&port=5499&search_path=s",
		"postgres://ida@" + tcp.Addr().String() + "/eunoe?search_path=s",
	} {
		const more = 5 * time.Millisecond
		s, there, err := delayed.Listen(t.Context(), dsn, more)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(there)
		if err != nil || u.User.Username() != "ida" || u.Path != "/eunoe" || u.Query().Get("search_path") != "s" || u.Host != "" {
			t.Fatalf("the DSN is %s, %v", there, err)
		}
		c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port")))
		if err != nil {
			t.Fatal(err)
		}
		var times []time.Duration
		for n := range 9 {
			began, sent, got := time.Now(), []byte{byte(n), 1, 2}, make([]byte, 3)
			if _, err := c.Write(sent); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, got); err != nil || !slices.Equal(sent, got) {
				t.Fatalf("%v came for %v: %v", got, sent, err)
			}
			times = append(times, time.Since(began))
		}
		if least := slices.Min(times); least < more || least > 20*more {
			t.Errorf("%s: a round trip takes %v; expected %v and a little more", dsn, least, more)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err == nil {
			t.Error("a connection is open after the end")
		}
	}
}

func TestOnlyAServerCanBePutFurtherAway(t *testing.T) {
	t.Parallel()
	if _, _, err := delayed.Listen(t.Context(), "/tmp/eunoe.db", time.Second); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a file: %v", err)
	}
}
