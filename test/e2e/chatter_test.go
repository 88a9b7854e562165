package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// chatter recalls again and again until it is stopped, and publishes meanwhile. Every recall must succeed, and see no less
// than the one before. Where nobody is killed it holds what was published before it.
type chatter struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	asked   int // recalls
	said    int // messages
}

const (
	chatPause   = 15 * time.Millisecond // between recalls
	chatRecalls = 10                    // for each message: whatever is said is worked on by every rebuild that follows
	chatFlush   = 3                     // messages for each flush
)

func chat(t *testing.T, url, bank string, fresh bool) *chatter {
	t.Helper()
	p := dial(t, url)
	ctx, stop := context.WithCancel(t.Context())
	c := &chatter{stop: stop}
	c.running.Go(func() {
		pause := time.NewTicker(chatPause)
		defer pause.Stop()
		seen, seq, last := uint64(0), uint64(0), 0
		for ctx.Err() == nil {
			if c.asked%chatRecalls == 0 {
				last = c.said
				seq = p.publish("mem."+bank+".message.chat", fmt.Sprintf(`{"id":"c%d","speaker":"Ida","content":"Crate number %d holds %s."}`, last, last, words[last%len(words)]))
				if c.said++; c.said%chatFlush == 0 {
					p.publish("mem."+bank+".flush.chat", "")
				}
			}
			out, code := p.ask("mem."+bank+".recall", fmt.Sprintf(`{"query":"What does crate number %d hold?","after":%d,"wait":"50s","deadline":"60s"}`, last, seq))
			position, _ := out["seen"].(float64)
			bad := code != "" || len(list(out["degraded"])) > 0 || uint64(position) < seen
			if fresh || out["fresh"] == true {
				bad = bad || out["fresh"] != true || uint64(position) < seq || !strings.Contains(fmt.Sprint(out["items"]), fmt.Sprintf("number %d ", last))
			}
			if bad {
				t.Errorf("recall %d, of message %d, after one that saw %d: %s %v", c.asked, seq, seen, code, out)
				return
			}
			seen = uint64(position)
			c.asked++
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
		}
	})
	return c
}

var words = []string{"lemons", "maps", "copper", "violins", "salt", "lanterns"}

// end stops the chatter and returns how much it has asked.
func (c *chatter) end() int {
	c.stop()
	c.running.Wait()
	return c.asked
}
