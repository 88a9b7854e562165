package settings

import "strings"

// TraceSettings say where traces go.
type TraceSettings struct {
	Trace       string  `env:"TRACE" doc:"where traces go: otlp, stdout or file:PATH; empty traces nothing"`
	TraceSample float64 `env:"TRACE_SAMPLE" envDefault:"1" doc:"share of the traces begun here that is kept; one begun elsewhere is kept if it was there"`
}

// The destinations that EUNOE_TRACE names.
const (
	TraceOTLP   = "otlp"
	TraceStdout = "stdout"
	TraceFile   = "file:"
)

func (s TraceSettings) check(wrong func(name, format string, args ...any)) {
	path, file := strings.CutPrefix(s.Trace, TraceFile)
	switch {
	case file && path == "":
		wrong("TRACE", "file: names no file; expected file:PATH")
	case s.Trace != "" && s.Trace != TraceOTLP && s.Trace != TraceStdout && !file:
		wrong("TRACE", "%q is no place for traces; expected otlp, stdout, file:PATH or nothing", s.Trace)
	}
	if !(s.TraceSample >= 0 && s.TraceSample <= 1) {
		wrong("TRACE_SAMPLE", "%v is no share; expected 0 to 1", s.TraceSample)
	}
}
