package natsd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/natsd"
)

func TestDamagedSettingsOfAStream(t *testing.T) {
	t.Parallel()
	half := func(b []byte) []byte { return b[:len(b)/2] }
	for name, c := range map[string]struct {
		file   string
		damage func([]byte) []byte
		noCopy bool
		logs   string // "" = nothing
		lost   bool   // the server does not know the stream until it is made anew
	}{
		"nothing is damaged":                         {file: "meta.inf", damage: bytes.Clone},
		"settings are brought back from their copy":  {file: "meta.inf", damage: half, logs: "brought back"},
		"a checksum is written anew":                 {file: "meta.sum", damage: half, noCopy: true, logs: "written anew"},
		"settings without a copy are put aside":      {file: "meta.inf", damage: half, noCopy: true, logs: "put aside", lost: true},
		"a consumer's settings are put aside":        {file: "obs/C/meta.inf", damage: half, logs: "put aside"},
		"a consumer under another name is put aside": {file: "obs/C/meta.inf", damage: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"C"`), []byte(`"D"`)) }, logs: "put aside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, metadata := t.TempDir(), map[string]string{"of": "me"}
			stream := jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, Retention: jetstream.WorkQueuePolicy, Metadata: metadata}
			s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, SyncAlways: true})
			if err != nil {
				t.Fatal(err)
			}
			_, js := connect(t, s.ClientURL())
			made, err := js.CreateStream(t.Context(), stream)
			if err != nil {
				t.Fatal(err)
			}
			consumer := jetstream.ConsumerConfig{Durable: "C", AckPolicy: jetstream.AckExplicitPolicy}
			if _, err := made.CreateConsumer(t.Context(), consumer); err != nil {
				t.Fatal(err)
			}
			if _, err := js.Publish(t.Context(), "s", []byte("x")); err != nil {
				t.Fatal(err)
			}
			if err := s.KeepSettings(); err != nil {
				t.Fatal(err)
			}
			s.Shutdown()
			path := filepath.Join(dir, "jetstream", "$G", "streams", "S", c.file)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.noCopy {
				if err := os.RemoveAll(filepath.Join(dir, "settings")); err != nil {
					t.Fatal(err)
				}
			}

			for run := range 2 {
				var log bytes.Buffer
				s, err := natsd.Start(natsd.Config{Dir: dir, Port: natsd.RandomPort, SyncAlways: true, Log: zerolog.New(&log).Level(zerolog.WarnLevel)})
				if err != nil {
					t.Fatal(err)
				}
				_, js := connect(t, s.ClientURL())
				have, err := js.Stream(t.Context(), "S")
				if (err != nil) != (c.lost && run == 0) {
					t.Errorf("start %d: the stream: %v", run, err)
				}
				if err == nil && !c.lost && (have.CachedInfo().Config.Metadata["of"] != "me" || !have.CachedInfo().Created.Equal(made.CachedInfo().Created)) {
					t.Errorf("start %d: it is another stream: %+v", run, have.CachedInfo())
				}
				if have, err = js.CreateOrUpdateStream(t.Context(), stream); err != nil {
					t.Fatal(err)
				}
				if n := have.CachedInfo().State.Msgs; n != 1 {
					t.Errorf("start %d: it holds %d messages", run, n)
				}
				if _, err := have.CreateOrUpdateConsumer(t.Context(), consumer); err != nil {
					t.Errorf("start %d: the consumer: %v", run, err)
				}
				s.Shutdown()
				if want := c.logs; run == 0 && (want == "" && log.Len() > 0 || !strings.Contains(log.String(), want)) || run == 1 && log.Len() > 0 {
					t.Errorf("start %d logged %s", run, log.String())
				}
			}
		})
	}
}
