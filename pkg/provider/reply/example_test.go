package reply_test

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/provider/reply"
)

// An answer that is fenced and was cut off keeps the items before the cut.
func ExampleItems() {
	items, notes, err := reply.Items("Sure:\n```json\n{\"facts\":[{\"f\":\"Ana moved to Porto.\"},{\"f\":\"Bo li", "facts")
	fmt.Printf("%s\n%+v %v\n", items[0], notes, err)
	// Output:
	// {"f":"Ana moved to Porto."}
	// {Repaired:false Truncated:true Broken:0} <nil>
}
