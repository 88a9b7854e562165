package natsd_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
)

// serve runs a server in dir with a stream of the subjects "said.>".
func serve(t *testing.T, dir string) (*natsd.Server, jetstream.JetStream) {
	t.Helper()
	s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, SyncAlways: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SAID", Subjects: []string{"said.>"}}); err != nil {
		t.Fatal(err)
	}
	return s, js
}

func look(t *testing.T, s *natsd.Space) {
	t.Helper()
	if err := s.Look(); err != nil {
		t.Fatal(err)
	}
}

func TestAFloorOfFreeSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, js := serve(t, dir)
	const floor = 100 << 20
	free := uint64(floor)
	watch := natsd.NewSpace(s, dir, floor, func() (uint64, error) { return free, nil })
	publish := func() error {
		_, err := js.Publish(t.Context(), "said.a", []byte("hello"))
		return err
	}
	for _, step := range []struct {
		free    uint64
		refused bool
	}{{floor, false}, {floor - 1, true}, {floor / 2, true}, {floor + 1, true}, {2 * floor, false}, {floor - 1, true}, {2 * floor, false}} {
		free = step.free
		look(t, watch)
		err := publish()
		var api *jetstream.APIError
		if step.refused && (!errors.As(err, &api) || api.ErrorCode != 10002 || s.Full() == nil) || !step.refused && (err != nil || s.Full() != nil) {
			t.Errorf("with %d free of %d a publish gave %v, and the server says %v", free, floor, err, s.Full())
		}
	}
	if info, err := js.Stream(t.Context(), "SAID"); err != nil || info.CachedInfo().State.Msgs != 3 {
		t.Errorf("the stream: %+v, %v", info, err)
	}
}

func TestADiskThatWasFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("eunoe", disk, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	s, js := serve(t, filepath.Join(disk, "streams"))
	watch := natsd.NewSpace(s, filepath.Join(disk, "streams"), 32<<20, nil)
	body := []byte(strings.Repeat("x", 500<<10))
	acknowledged := map[uint64]string{}
	var failed error
	for i := 0; failed == nil && i < 200; i++ { // nobody looks in time
		ack, err := js.Publish(t.Context(), fmt.Sprintf("said.%d", i), body)
		if failed = err; err == nil {
			acknowledged[ack.Sequence] = fmt.Sprintf("said.%d", i)
		}
	}
	if failed == nil {
		t.Fatal("the disk did not become full")
	}
	look(t, watch)
	if s.Full() == nil {
		t.Error("the server does not say that there is no room")
	}
	if err := syscall.Mount("eunoe", disk, "tmpfs", syscall.MS_REMOUNT, "size=512m"); err != nil {
		t.Fatal(err)
	}
	look(t, watch)
	if err := s.Full(); err != nil {
		t.Error(err)
	}
	if ack, err := js.Publish(t.Context(), "said.after", body); err != nil || acknowledged[ack.Sequence] != "" {
		t.Fatalf("with room again: %+v, %v", ack, err)
	}
	stream, err := js.Stream(t.Context(), "SAID")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(">"))
	if err != nil {
		t.Fatal(err)
	}
	for seq, subject := range acknowledged {
		if info.State.Subjects[subject] == 0 {
			t.Errorf("acknowledged message %d is gone", seq)
		}
	}
}
