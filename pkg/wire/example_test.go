package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// A new endpoint is an entry of the table and a method. The entry holds everything that others need to know: here for
// an endpoint that counts the facts with a tag.

// CountRequest asks how many facts have a tag.
type CountRequest struct {
	Tag string `json:"tag"`
}

// CountReply answers a CountRequest.
type CountReply struct {
	Facts int `json:"facts"`
}

var count = wire.Endpoint[CountRequest, CountReply]{
	Name: "count", Role: wire.Bot, Summary: "Count the facts with a tag.",
	Example: wire.Example[CountRequest, CountReply]{Request: CountRequest{Tag: "food"}, Reply: CountReply{Facts: 2}},
}

// service has the method; in Eunoe that is query.Service.
type service struct{ tags map[string]int }

func (s service) Count(_ context.Context, _ memory.BankID, r CountRequest) (CountReply, error) {
	if r.Tag == "" {
		return CountReply{}, memory.Invalid("tag", "is required")
	}
	return CountReply{Facts: s.tags[r.Tag]}, nil
}

// Adding an endpoint: the entry above, the method above, and the line that binds them. A method with other types does
// not compile.
func ExampleHandle() {
	s := service{tags: map[string]int{"food": 2}}
	h := wire.Handle(count, s.Count)

	reply, err := h.Serve(context.Background(), "alice", []byte(`{"tag":"food"}`), nil)
	body, _ := json.Marshal(reply)
	fmt.Println(string(body), err)
	_, err = h.Serve(context.Background(), "alice", []byte(`{"tga":"food"}`), nil)
	fmt.Println(err)
	// Output:
	// {"facts":2} <nil>
	// tga: unknown field
}

// What the broker's permissions, the documents and `nats micro info` say of an endpoint comes from its entry.
func ExampleEndpoint_Describe() {
	d := count.Describe()
	fmt.Println(d.Subject("mem"))
	fmt.Println(d.Summary)
	fmt.Println(d.Metadata())
	// Output:
	// mem.{bank}.count
	// Count the facts with a tag.
	// map[reply:CountReply request:CountRequest schema:eunoe/CountRequest]
}

// The table can be read whole: here, what an operator may do besides what a bot may.
func ExampleEndpoints() {
	for _, e := range wire.Endpoints() {
		if e.Role == wire.Operator {
			fmt.Printf("%s: %s\n", e.Subject("mem"), e.Summary)
		}
	}
	// Output:
	// mem.admin.banks: List the banks.
	// mem.admin.dead: List, show, retry or drop dead letters.
	// mem.admin.reextract: Extract the windows of a bank anew.
	// mem.admin.verify: Check the store against itself.
	// mem.admin.erase: Erase a bank for good.
}

// A failed request is answered by a Fault, which keeps the meaning of the error.
func ExampleFaultOf() {
	body, _ := json.Marshal(wire.FaultOf(memory.Invalid("query", "is required")))
	fmt.Println(string(body))

	var f wire.Fault
	_ = json.Unmarshal(body, &f)
	fmt.Println(errors.Is(f.Err(), memory.ErrInvalid))
	// Output:
	// {"error":{"code":400,"message":"query: is required","field":"query"}}
	// true
}

// A judge is written as true, false or a threshold.
func ExampleJudge() {
	half := 0.5
	body, _ := json.Marshal([]wire.Judge{{}, {Off: true}, {Threshold: &half}})
	fmt.Println(string(body))
	// Output: [true,false,{"threshold":0.5}]
}
