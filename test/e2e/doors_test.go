package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/local"
)

// doors asks a whole Eunoe over NATS and over HTTP.
type doors struct {
	plain
	*local.Local
}

func openDoors(t *testing.T, overrides map[string]string) doors {
	t.Helper()
	set := map[string]string{"HTTP": "127.0.0.1:0"}
	for k, v := range overrides {
		set[k] = v
	}
	l := apptest.Start(t, apptest.Settings(t, set), gateway.Stage())
	return doors{dial(t, l.URL), l}
}

// post sends a request of a bank over HTTP and returns the reply and the error code ("" for none).
func (d doors) post(bank, endpoint, body string) (object, string) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.Gateway+"/v1/banks/"+bank+"/"+endpoint, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		d.t.Fatalf("%s %s: %s", endpoint, body, raw)
	}
	if resp.StatusCode == http.StatusOK {
		return out, ""
	}
	return out, fmt.Sprint(resp.StatusCode)
}

// mustPost is post for a request that is answered.
func (d doors) mustPost(bank, endpoint, body string) object {
	d.t.Helper()
	out, code := d.post(bank, endpoint, body)
	if code != "" {
		d.t.Fatalf("%s %s: %s %v", endpoint, body, code, out)
	}
	return out
}

// read asks over both, which must say the same, and returns the reply.
func (d doors) read(bank, endpoint, body string) object {
	d.t.Helper()
	over, again := d.mustAsk("mem."+bank+"."+endpoint, body), d.mustPost(bank, endpoint, body)
	if fmt.Sprint(over) != fmt.Sprint(again) {
		d.t.Errorf("%s %s: NATS says %v, HTTP %v", endpoint, body, over, again)
	}
	return over
}

// refused asks over both and requires the code and the field of the error.
func (d doors) refused(bank, endpoint, body, code, field string) {
	d.t.Helper()
	over, c1 := d.ask("mem."+bank+"."+endpoint, body)
	again, c2 := d.post(bank, endpoint, body)
	for door, got := range map[string]struct {
		reply object
		code  string
	}{"NATS": {over, c1}, "HTTP": {again, c2}} {
		e, _ := got.reply["error"].(object)
		if f, _ := e["field"].(string); got.code != code || f != field {
			d.t.Errorf("%s %s over %s: %s %v, want %s of %s", endpoint, body, door, got.code, got.reply, code, field)
		}
	}
}
