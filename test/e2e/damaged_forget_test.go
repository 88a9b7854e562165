package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/offline"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// TestAForgetOfADamagedMessageIsNotCalledDone forgets a session of which one message is damaged in its block: the rest of it
// is erased, and verify says that something is not, also after another start.
func TestAForgetOfADamagedMessageIsNotCalledDone(t *testing.T) {
	t.Parallel()
	const queues = "changes are published and forgotten events erased: broken (1 forgotten events are damaged"
	set := apptest.Settings(t, nil)
	session(t, set, func(p plain, l *local.Local) {
		p.publish("mem.marit.message.hytta", `{"id":"a","speaker":"Marit","content":"I keep the spare key under the birch."}`)
		for i := range 6 {
			p.publish("mem.marit.message.jobb", fmt.Sprintf(`{"speaker":"Marit","content":"I drove %d kilometres."}`, 70+i))
		}
		p.publish("mem.marit.message.hytta", `{"id":"b","speaker":"Marit","content":"My cabin is at Femunden."}`)
		p.publish("mem.marit.message.jobb", `{"id":"c","speaker":"Marit","content":"I drive a grader."}`)
		p.publish("mem.marit.flush.hytta", "")
		p.publish("mem.marit.flush.jobb", "")
		p.settle("marit")
		waitApplied(t, l, set.Store)
	})
	spoilEvent(t, set.Data, "MEM_MESSAGES", "Femunden", true)
	session(t, set, func(p plain, l *local.Local) {
		if r := p.mustAsk("mem.marit.forget", `{"session":"hytta","wait":"60s"}`); r["messages"] != 2.0 {
			t.Errorf("the receipt is %v", r)
		}
		waitErased(t, l, "birch")
		if found := broken(t, p.mustAsk("mem.admin.verify", ""), "changes are published"); len(found) != 1 || !strings.HasPrefix(found[0], queues) {
			t.Errorf("verify says %q", found)
		}
		if r := p.mustAsk("mem.marit.recall", `{"query":"Where is the cabin?"}`); holds(texts(r), "Femunden") {
			t.Errorf("it is recalled: %v", r)
		}
	})
	session(t, set, func(p plain, l *local.Local) {
		p.publish("mem.marit.message.jobb", `{"id":"d","speaker":"Marit","content":"I own a theodolite."}`)
		p.publish("mem.marit.flush.jobb", "")
		p.mustAsk("mem.marit.forget", `{"id":"d","wait":"60s"}`)
		waitErased(t, l, "theodolite")
		if found := broken(t, p.mustAsk("mem.admin.verify", ""), "changes are published"); len(found) != 1 || !strings.HasPrefix(found[0], queues) {
			t.Errorf("after another start verify says %q", found)
		}
	})
	if v, err := offline.Verify(t.Context(), set, false, false); err != nil || v.OK || len(v.Problems) != 1 || !strings.HasPrefix(v.Problems[0], queues) {
		t.Errorf("of the stopped one verify says %q, %v", v.Problems, err)
	}
	if !natstest.OnDisk(t, set.Data, "My cabin is at ") {
		t.Error("the bytes are not there")
	}
}
