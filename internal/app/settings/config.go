package settings

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/events"
)

// Prefix begins the name of every variable.
const Prefix = "EUNOE_"

// Config holds every setting of Eunoe. Each is an environment variable EUNOE_<env>; a flag of the command line overrides
// the environment, and the environment overrides the default. Tuning is not read from the environment.
type Config struct {
	URL    string `env:"URL" envDefault:"nats://127.0.0.1:4222" doc:"where the NATS server is; tls:// is encrypted"`
	Creds  string `env:"CREDS" doc:"file with NATS credentials (.creds), or with the seed of an nkey"`
	Prefix string `env:"PREFIX" envDefault:"mem" doc:"first token of every subject; stream names follow it"`

	Replicas int `env:"REPLICAS" envDefault:"0" doc:"servers of a NATS cluster that keep each stream and bucket: 1, 3 or 5; 0 keeps what is there"`

	Data       string `env:"DATA" envDefault:"eunoe-data" doc:"data directory of eunoe up: streams and store"`
	Store      string `env:"STORE" doc:"file of the SQLite store; default eunoe.db in the data directory"`
	MinFree    int64  `env:"MIN_FREE" envDefault:"134217728" doc:"of eunoe up: bytes that must be free on the disk of the streams; below, what is published is refused until there is room. 0 is off"`
	Shards     int    `env:"SHARDS" envDefault:"0" doc:"stores that the banks are spread over, each with a consolidator of its own: 1, 2, 4, 8 or 16; 0 is as many as there are. eunoe rebuild changes it"`
	StoreLimit int64  `env:"STORE_LIMIT" envDefault:"0" doc:"bytes the store's file may grow to; 0 is without bound. At the limit the consolidator waits, and nothing is lost"`
	Port       int    `env:"PORT" envDefault:"4222" doc:"port of the embedded NATS server; -1 picks a free one"`
	Sync       bool   `env:"SYNC" envDefault:"true" doc:"the embedded server syncs to disk before it acknowledges"`

	Health string `env:"HEALTH" envDefault:"127.0.0.1:0" doc:"address of /livez, /readyz and /metrics; port 0 picks a free one"`
	Log    string `env:"LOG" envDefault:"info" doc:"trace, debug, info, warn or error"`

	TriggerEvery int           `env:"TRIGGER_EVERY" envDefault:"2" doc:"messages that cut a window; 0 is off"`
	WindowTokens int           `env:"WINDOW_TOKENS" envDefault:"512" doc:"tokens of new text that cut a window"`
	IdleAfter    time.Duration `env:"IDLE_AFTER" envDefault:"30s" doc:"a session silent for so long is flushed"`
	RoleFilter   []string      `env:"ROLE_FILTER" doc:"roles that are extracted, comma separated; empty is all"`

	Extractors  int           `env:"EXTRACTORS" envDefault:"1" doc:"windows one extractor process works on at a time; with one, a bank's windows end in their order"`
	MaxAttempts int           `env:"MAX_ATTEMPTS" envDefault:"5" doc:"tries of a window before it is a dead letter"`
	AckWait     time.Duration `env:"ACK_WAIT" envDefault:"30s" doc:"silence of an extractor after which another takes its window"`
	Redact      []string      `env:"REDACT" envSeparator:"\n" doc:"further regular expressions of secrets, one a line"`

	ModelSettings
	ExtractionSettings
	AccessSettings
	GatewaySettings
	TraceSettings
	Tuning
}

// Setting is one setting in effect and where its value comes from.
type Setting struct {
	Name   string `json:"name"` // EUNOE_…
	Value  string `json:"value"`
	Source string `json:"source"` // default, environment or flag
	Doc    string `json:"doc"`
}

// Load reads the settings from environ ("NAME=value" lines) and overrides (the values of flags by name without EUNOE_).
// The error joins every setting that is wrong and names each.
func Load(environ []string, overrides map[string]string) (Config, []Setting, error) {
	given := env.ToMap(environ)
	for name, value := range overrides {
		given[Prefix+name] = value
	}
	if address, set := given[Prefix+"HTTP"]; set && address == "" {
		given[Prefix+"HTTP"] = Off // empty would be the default
	}
	c := Config{Tuning: DefaultTuning()}
	err := env.ParseWithOptions(&c, env.Options{Environment: given, Prefix: Prefix})
	if err != nil {
		return Config{}, nil, unreadable(err)
	}
	if c.Store == "" {
		c.Store = filepath.Join(c.Data, "eunoe.db")
	}
	c.adopt(given)
	return c, effective(c, given, overrides), errors.Join(c.Validate(), withdrawn(given))
}

// unreadable turns a parse error into one that names the variables that could not be read.
func unreadable(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("settings: %w", err)
	}
	var out []error
	for _, e := range all.Errors {
		var parse env.ParseError
		if !errors.As(e, &parse) {
			out = append(out, e)
			continue
		}
		name := parse.Name
		if f, ok := reflect.TypeFor[Config]().FieldByName(parse.Name); ok {
			name = Prefix + f.Tag.Get("env")
		}
		out = append(out, fmt.Errorf("%s: expected %s", name, expected(parse.Type)))
	}
	return errors.Join(out...)
}

// expected describes the values that a setting of type t takes.
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration like 30s or 5m"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "a " + t.String()
}

// effective lists the settings in the order in which they are declared.
func effective(c Config, given, overrides map[string]string) []Setting {
	var out []Setting
	v := reflect.ValueOf(c)
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("env") == "" {
			continue
		}
		name := f.Tag.Get("env")
		s := Setting{Name: Prefix + name, Value: show(v.FieldByIndex(f.Index).Interface()), Source: "default", Doc: f.Tag.Get("doc")}
		if strings.HasSuffix(name, "URL") && s.Value != "" {
			s.Value = events.RedactURL(s.Value)
		}
		if _, ok := given[s.Name]; ok {
			s.Source = "environment"
		}
		if _, ok := overrides[name]; ok {
			s.Source = "flag"
		}
		if variable := c.keyVariable(given); name == "MODEL_KEY" && s.Value == "" && variable != "" {
			s.Value, s.Source = "("+variable+")", "environment"
		}
		out = append(out, s)
	}
	return out
}

// show formats a value as a user would write it.
func show(v any) string {
	if list, ok := v.([]string); ok {
		return strings.Join(list, ",")
	}
	if d, ok := v.(time.Duration); ok { // 24h, not 24h0m0s
		text := d.String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	}
	return fmt.Sprint(v)
}

// onServer reports whether a store is on a PostgreSQL server.
func onServer(store string) bool {
	return strings.HasPrefix(store, "postgres://") || strings.HasPrefix(store, "postgresql://")
}

// hasPassword reports whether the address of a server has a password.
func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// Validate joins all invalid values in one error that names each variable.
func (c Config) Validate() error {
	var errs []error
	wrong := func(name, format string, args ...any) {
		errs = append(errs, fmt.Errorf(Prefix+name+": "+format, args...))
	}
	if c.Prefix == "" || strings.ContainsAny(c.Prefix, ".*> \t$%") {
		wrong("PREFIX", "%q is not one subject token", c.Prefix)
	}
	if err := c.Streams().Validate(); err != nil {
		wrong("REPLICAS", "%d is none of 1, 3 and 5, nor 0 to keep what is there", c.Replicas)
	}
	if c.Shards != 0 && !slices.Contains(events.ShardCounts(), c.Shards) {
		wrong("SHARDS", "%d is none of 1, 2, 4, 8 and 16, nor 0 for as many as there are", c.Shards)
	}
	if c.MinFree < 0 {
		wrong("MIN_FREE", "%d must not be negative", c.MinFree)
	}
	if c.StoreLimit < 0 {
		wrong("STORE_LIMIT", "%d must not be negative", c.StoreLimit)
	}
	if onServer(c.Store) {
		for _, address := range strings.Fields(c.Store) { // of several servers
			switch u, err := url.Parse(address); {
			case err != nil || !onServer(address):
				wrong("STORE", "the address cannot be read; expected postgres://user@host/database")
			case hasPassword(u):
				wrong("STORE", "the address has a password, which would be shown with the settings: set PGPASSWORD, or PGPASSFILE to a file with it")
			}
		}
		if c.StoreLimit > 0 {
			wrong("STORE_LIMIT", "a limit is kept by SQLite alone")
		}
	}
	if c.Port < -1 || c.Port > 65535 {
		wrong("PORT", "%d is no port; expected 1 to 65535, or -1 for a free one", c.Port)
	}
	if _, _, err := net.SplitHostPort(c.Health); err != nil {
		wrong("HEALTH", "%q is not host:port", c.Health)
	}
	if _, err := zerolog.ParseLevel(c.Log); err != nil || c.Log == "" {
		wrong("LOG", "%q is no level; expected trace, debug, info, warn or error", c.Log)
	}
	for _, n := range []struct {
		name            string
		value, low, top int
	}{{"TRIGGER_EVERY", c.TriggerEvery, 0, 512}, {"WINDOW_TOKENS", c.WindowTokens, 1, 1000000},
		{"EXTRACTORS", c.Extractors, 1, 1024}, {"MAX_ATTEMPTS", c.MaxAttempts, 1, 1000}} {
		if n.value < n.low || n.value > n.top {
			wrong(n.name, "%d is out of range; expected %d to %d", n.value, n.low, n.top)
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"IDLE_AFTER", c.IdleAfter}, {"ACK_WAIT", c.AckWait}} {
		if d.value <= 0 {
			wrong(d.name, "%s must be more than 0", d.value)
		}
	}
	for _, r := range c.RoleFilter {
		if !slices.Contains([]string{"user", "assistant", "system", "tool"}, r) {
			wrong("ROLE_FILTER", "%q is no role; expected user, assistant, system or tool", r)
		}
	}
	c.ModelSettings.check(wrong)
	c.ExtractionSettings.check(wrong)
	c.AccessSettings.check(wrong)
	c.GatewaySettings.check(wrong)
	c.TraceSettings.check(wrong)
	return errors.Join(errs...)
}

// Conn returns the configuration of a connection to the broker; name is what the broker shows it as.
func (c Config) Conn(name string, log zerolog.Logger) events.ConnConfig {
	return events.ConnConfig{URL: c.URL, Creds: c.Creds, Prefix: c.Prefix, Name: name, TLS: c.TLS(), InboxPrefix: c.Inbox, Log: log}
}

// Streams returns what a deployment chooses of its streams and buckets.
func (c Config) Streams() events.StreamOptions { return events.StreamOptions{Replicas: c.Replicas} }
