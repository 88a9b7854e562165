package request_test

import (
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
)

func ExampleWaits() {
	waits := request.Waits{Default: 2 * time.Second, Max: time.Minute}
	byDefault, _ := waits.Of("wait", nil)
	tooLong := memory.Duration(time.Hour)
	_, err := waits.Of("wait", &tooLong)
	fmt.Println(byDefault)
	fmt.Println(err)
	// Output:
	// 2s
	// wait: is 1h0m0s; expected 0s to 1m0s
}
