package rerank_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/eunoe-memory/eunoe/pkg/provider/call"
	"github.com/eunoe-memory/eunoe/pkg/provider/rerank"
)

// The scores come in the order of the texts, whatever the order of the service's answer.
func ExampleReranker_Rerank() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`)
	}))
	defer server.Close()
	config := rerank.Config{URL: server.URL, Shape: rerank.TEI}
	client := call.New(call.DefaultConfig(), call.Deps{Transport: http.DefaultTransport, Metrics: call.NewMetrics()}, config.Endpoint())
	scores, err := rerank.New(client, config).Rerank(context.Background(), "Where does Alice live?",
		[]string{"The build is broken.", "Alice lives in Lisbon."})
	fmt.Println(scores, err)
	// Output: [0.1 0.9] <nil>
}
