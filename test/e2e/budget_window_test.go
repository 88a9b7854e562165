package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// TestABudgetThatEndsWithinAWindow lets the first call of a window use up the tokens of its bank where the window needs more
// calls: the window is finished, or waits if it failed, the next one waits without a call, also after a restart, and
// all of them become facts once.
func TestABudgetThatEndsWithinAWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind          scriptedmodel.Kind
		faults, calls int
		parked        int // windows that wait afterwards
	}{
		"an answer that is repaired":           {scriptedmodel.WrongTypes, 1, 2, 1},
		"an answer that is cut off":            {scriptedmodel.Length, 1, 3, 1},
		"a window that could not be extracted": {scriptedmodel.WrongTypes, 2, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := scriptedmodel.Start(t, new(scriptedmodel.Script).Fault(memory.StageExtract, c.kind, c.faults))
			extracts := func() int { return srv.Stats().Stages[memory.StageExtract].Calls }
			set := apptest.Settings(t, map[string]string{"MODEL": "openai:scripted", "MODEL_URL": srv.URL, "MODEL_KEY": "none", "TOKEN_BUDGET": "1"})
			set.ModelRetries = 0
			say := func(p plain, bank, session, first, second string) {
				for _, thing := range []string{first, second} {
					p.publish("mem."+bank+".message."+session, fmt.Sprintf(`{"speaker":"Ida","content":"I bought a %s."}`, thing))
				}
				p.publish("mem."+bank+".flush."+session, "")
			}
			parked := func(p plain) {
				t.Helper()
				natstest.Eventually(t, fmt.Sprintf("%d windows wait for the budget", c.parked), func() bool {
					s := p.mustAsk("mem.ida.status", "")
					return s["windows"].(object)["parked"] == float64(c.parked) && s["windows"].(object)["pending"] == float64(c.parked)
				})
				if n := extracts(); n != c.calls {
					t.Errorf("the model was asked %d times, expected %d", n, c.calls)
				}
				s := p.mustAsk("mem.ida.status", "")
				if n := s["conservation"].(object); s["settled"] == true || n["pending"] != float64(2*c.parked) || n["published"] != 4.0 || s["dead"] != 0.0 {
					t.Errorf("the status is %v", s)
				}
			}
			session(t, set, func(p plain, l *local.Local) {
				say(p, "ida", "one", "harpsichord", "parrot")
				natstest.Eventually(t, "the first window is over", func() bool { return extracts() == c.calls })
				natstest.Eventually(t, "its tokens count", func() bool {
					return len(list(p.mustAsk("mem.ida.status", "")["usage"])) > 0 || c.faults == 2
				})
				say(p, "ida", "two", "kayak", "ladder")
				parked(p)
				if told := doctor(t, l.URL, "--bank", "ida"); !strings.Contains(told, "token budget") {
					t.Errorf("doctor says %s", told)
				}
			})
			session(t, set, func(p plain, _ *local.Local) {
				parked(p)
				say(p, "bob", "one", "telescope", "tent") // another bank's window is extracted: the extractor is at work
				p.settle("bob")
				c.calls++
				parked(p)
				p.mustAsk("mem.ida.bank", `{"quotas":{"tokens_per_day":1000000}}`)
				p.settle("ida")
				found := facts(p, "ida")
				for _, thing := range []string{"harpsichord", "parrot", "kayak", "ladder"} {
					of := slices.DeleteFunc(slices.Clone(found), func(f string) bool { return !strings.Contains(f, thing) })
					if len(of) != 1 {
						t.Errorf("%d facts of the %s: %q", len(of), thing, found)
					}
				}
				if v := p.mustAsk("mem.admin.verify", `{}`); v["ok"] != true {
					t.Errorf("verify says %v", v["problems"])
				}
			})
			if s := srv.Stats(); s.Stages[memory.StageExtract].Calls < c.calls+c.parked {
				t.Errorf("the windows that waited were not shown to the model: %v", s.Stages)
			}
		})
	}
}
