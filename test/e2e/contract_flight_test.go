package e2e_test

import (
	"fmt"
	"testing"
)

// TestABankErasedInFlightStaysGone erases banks while their windows are in flight.
func TestABankErasedInFlightStaysGone(t *testing.T) {
	t.Parallel()
	p := dial(t, startLocal(t, nil).URL)
	const banks = 12
	for i := range banks {
		bank := fmt.Sprintf("fly%d", i)
		for j := range 4 {
			p.publish("mem."+bank+".message.s", fmt.Sprintf(`{"speaker":"Ann","content":"I own vessel number %d."}`, j))
		}
		p.publish("mem."+bank+".flush.s", "")
		p.mustAsk("mem.admin.erase", fmt.Sprintf(`{"bank":%q,"wait":"60s"}`, bank))
	}
	// Earlier events are applied once a bank whose events follow them is settled.
	p.publish("mem.behind.message.s", `{"speaker":"Ann","content":"I own a buoy."}`)
	p.publish("mem.behind.flush.s", "")
	p.settle("behind")
	for i := range banks {
		s, code := p.ask(fmt.Sprintf("mem.fly%d.status", i), "")
		if code != "404" {
			t.Errorf("bank %d: %q %v", i, code, s)
		}
	}
}
