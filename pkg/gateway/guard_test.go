package gateway_test

import (
	"net/http"
	"testing"
)

// TestAPageLearnsNothingByEmbedding makes the requests that browsers make for images, scripts and frames of foreign pages.
func TestAPageLearnsNothingByEmbedding(t *testing.T) {
	t.Parallel()
	d := open(t, map[string]string{"HTTP_ORIGINS": "https://app.example.org"})
	post[published](d, "/v1/banks/bruna/sessions/s/messages", `{"content":"O gato chama-se Tareco."}`)
	ask := func(path, site, mode, dest, origin string) int {
		r := d.request(http.MethodGet, path, "")
		for name, value := range map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest, "Origin": origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		status, h, _ := d.do(r)
		if h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: browsers may embed it", path)
		}
		return status
	}
	for _, site := range []string{"cross-site", "same-site"} {
		for _, dest := range []string{"image", "script", "iframe", "object", "document"} {
			for _, path := range []string{"/v1/banks/bruna/status", "/v1/banks/nobody/status", "/v1/banks/bruna/events", "/v1/self", "/health/ready"} {
				if status := ask(path, site, "no-cors", dest, ""); status != http.StatusForbidden {
					t.Errorf("%s as %s of a %s page: %d", path, dest, site, status)
				}
			}
		}
		if status := ask("/docs", site, "navigate", "document", ""); status != 200 {
			t.Errorf("a link to /docs on a %s page: %d", site, status)
		}
		if status := ask("/docs", site, "navigate", "iframe", ""); status != http.StatusForbidden {
			t.Errorf("/docs in a frame of a %s page: %d", site, status)
		}
		if status := ask("/v1/banks/bruna/status", site, "cors", "empty", "https://app.example.org"); status != 200 {
			t.Errorf("a trusted page, %s: %d", site, status)
		}
	}
	for _, site := range []string{"same-origin", "none", ""} {
		if status := ask("/v1/self", site, "", "", ""); status != 200 {
			t.Errorf("%q: %d", site, status)
		}
	}
}
