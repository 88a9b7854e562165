package gateway

import "time"

// CloseIdle closes every connection that is not in use.
func (g *Gateway) CloseIdle() { g.keys.closeIdle(time.Now().Add(time.Hour)) }
