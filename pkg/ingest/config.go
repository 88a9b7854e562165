package ingest

import (
	"errors"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxOpen is the most messages that wait for a window, carried ones included:
// at that many one is cut whatever the settings.
const MaxOpen = 512

// Settings say when a window is cut. They are recorded with each session when
// it begins and when it goes on after a flush, so that a replay cuts alike.
type Settings struct {
	TriggerEvery int             `json:"trigger_every"` // messages that match the role filter; 0 = off
	WindowTokens int             `json:"window_tokens"` // of new text; 0 = off
	WindowSize   int             `json:"window_size"`   // context fills up to this many messages; 0 = no context
	IdleAfter    memory.Duration `json:"idle_after"`    // then the session is flushed; 0 = never
	// RoleFilter names the roles that count, are extracted and are context; empty = all.
	// Messages of other roles are carried.
	RoleFilter []memory.Role `json:"role_filter,omitempty"`
	// TopicTurn cuts before a message whose topic differs from the one before it.
	TopicTurn bool `json:"topic_turn,omitempty"`
}

// Matches reports whether a role passes the filter.
func (s Settings) Matches(r memory.Role) bool {
	return len(s.RoleFilter) == 0 || slices.Contains(s.RoleFilter, r)
}

// Config says how ingest goes about its work. Settings hold for banks that
// have none of their own.
type Config struct {
	Settings
	Owner    string        // this process, unlike any other's; "" = a random one
	MaxBatch int           // events that share a write of the state
	IdleTick time.Duration // how often idle sessions are looked for
}

// DefaultConfig is for extraction by rules: a window each 2 messages or 512
// tokens, context up to 6 messages, idle after 30 s.
func DefaultConfig() Config {
	return Config{
		Settings: Settings{TriggerEvery: 2, WindowTokens: 512, WindowSize: 6, IdleAfter: memory.Duration(30 * time.Second)},
		MaxBatch: 256, IdleTick: 250 * time.Millisecond,
	}
}

// Validate reports every setting out of range, joined.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate()}
	if c.MaxBatch < 1 || c.MaxBatch > 10000 {
		errs = append(errs, memory.Invalid("max_batch", "is %d; expected 1 to 10000", c.MaxBatch))
	}
	if c.IdleTick <= 0 {
		errs = append(errs, memory.Invalid("idle_tick", "is %s; expected more than nothing", c.IdleTick))
	}
	return errors.Join(errs...)
}

// Validate reports every setting out of range, joined.
func (s Settings) Validate() error {
	var errs []error
	within := func(name string, value, limit int) {
		if value < 0 || value > limit {
			errs = append(errs, memory.Invalid(name, "is %d; expected 0 to %d", value, limit))
		}
	}
	within("trigger_every", s.TriggerEvery, MaxOpen)
	within("window_tokens", s.WindowTokens, 1_000_000)
	within("window_size", s.WindowSize, MaxOpen)
	if s.IdleAfter < 0 {
		errs = append(errs, memory.Invalid("idle_after", "is %s; it must not be negative", time.Duration(s.IdleAfter)))
	}
	for _, r := range s.RoleFilter {
		if !r.Valid() {
			errs = append(errs, memory.Invalid("role_filter", "%q is not a role; expected user, assistant, system or tool", string(r)))
		}
	}
	return errors.Join(errs...)
}

// For gives the settings of a bank: its own where it has them and they are in
// range, else these.
func (s Settings) For(own *memory.WindowSettings) Settings {
	if own == nil {
		return s
	}
	try := func(change func(*Settings)) {
		t := s
		if change(&t); t.Validate() == nil {
			s = t
		}
	}
	if own.TriggerEvery != nil {
		try(func(t *Settings) { t.TriggerEvery = *own.TriggerEvery })
	}
	if own.WindowTokens != nil {
		try(func(t *Settings) { t.WindowTokens = *own.WindowTokens })
	}
	if own.WindowSize != nil {
		try(func(t *Settings) { t.WindowSize = *own.WindowSize })
	}
	if own.IdleAfter != nil {
		try(func(t *Settings) { t.IdleAfter = *own.IdleAfter })
	}
	if own.RoleFilter != nil {
		try(func(t *Settings) { t.RoleFilter = slices.Clone(own.RoleFilter) })
	}
	return s
}
