package local_test

import (
	"testing"

	"go.uber.org/goleak"
)

// nats-server 2.15.2 leaves the file store of a stream open that it was asked for while it shuts down: its loop, and the
// clock that the store holds. A test that stops a stage while it starts can ask for one at that moment.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*fileStore).flushStreamStateLoop"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server/ats.Register.func1"))
}
