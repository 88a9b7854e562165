package natsd

import (
	"fmt"
	"sync"

	"github.com/rs/zerolog"
)

// logger hands the server's warnings and errors on; notices are debug lines.
// The server's fatal errors are kept for Start to return.
type logger struct {
	log zerolog.Logger

	mu  sync.Mutex
	err error
}

func (l *logger) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Fatalf keeps the error; it does not end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf(format, v...)
	}
}

// Errorf logs an error of the server.
func (l *logger) Errorf(format string, v ...any) {
	l.log.Error().Str("stage", "nats").Msgf(format, v...)
}

// Warnf logs a warning of the server.
func (l *logger) Warnf(format string, v ...any) {
	l.log.Warn().Str("stage", "nats").Msgf(format, v...)
}

// Noticef logs a notice at debug level.
func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug().Str("stage", "nats").Msgf(format, v...)
}

// Debugf drops the server's debug lines.
func (*logger) Debugf(string, ...any) {}

// Tracef drops the server's trace lines.
func (*logger) Tracef(string, ...any) {}
