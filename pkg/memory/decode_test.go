package memory_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestDecodeTakesFieldsByTheirExactNames(t *testing.T) {
	t.Parallel()
	type part struct {
		Colour string `json:"colour"`
	}
	type Shared struct {
		Op string `json:"op,omitempty"`
	}
	type body struct {
		Shared
		Parts  []part          `json:"parts"`
		ByName map[string]part `json:"by_name"`
		Wait   memory.Duration `json:"wait"`
		One    *part           `json:"one"`
	}
	for text, field := range map[string]string{
		`{"op":"a","parts":[{"colour":"red"}],"by_name":{"Any":{"colour":"x"}},"wait":"2s","one":null}`: "",
		`{"OP":"a"}`: "OP",
		`{"parts":[{"colour":"a"},{"COLOUR":"b"}]}`: "parts.1.COLOUR",
		`{"by_name":{"Any":{"Colour":"x"}}}`:        "by_name.Any.Colour",
		`{"one":{"Colour":"x"}}`:                    "one.Colour",
		`{"Shared":{"op":"a"}}`:                     "Shared",
	} {
		err := memory.Decode([]byte(text), &body{})
		var fe *memory.FieldError
		if got := errors.As(err, &fe); got != (field != "") || got && fe.Field != field {
			t.Errorf("%s: %v; expected the field %q", text, err, field)
		}
	}
	var b body
	if err := memory.DecodeEvent([]byte(`{"OP":"a","new":1}`), &b); err != nil || b.Op != "a" {
		t.Errorf("an event with fields of tomorrow: %+v, %v", b, err)
	}
}

// TestAWrongValueIsNamedByItsPath decodes values that do not fit their type, also those of types that decode themselves.
func TestAWrongValueIsNamedByItsPath(t *testing.T) {
	t.Parallel()
	type Filter struct {
		Leave *struct {
			Rooms []string `json:"rooms"`
		} `json:"leave"`
	}
	type guest struct {
		Arrives *time.Time      `json:"arrives"`
		Stays   memory.Duration `json:"stays"`
		Look    memory.Vector   `json:"vector"`
		Age     int             `json:"age"`
		Role    memory.Role     `json:"role"`
	}
	type body struct {
		Filter
		Guests []guest          `json:"guests"`
		ByName map[string]guest `json:"by_name"`
		Until  time.Time        `json:"until"`
	}
	for text, want := range map[string]string{
		`{"until":"tomorrow"}`:                                        `until: "tomorrow" is not a time`,
		`{"until":"2026-02-30T00:00:00Z"}`:                            `until: "2026-02-30T00:00:00Z" is not a time`,
		`{"until":17}`:                                                `until: expected a time`,
		`{"guests":[{"age":4},{"arrives":"noon"}]}`:                   `guests.1.arrives: "noon" is not a time`,
		`{"guests":[{"age":4},{"age":4.5}]}`:                          `guests.1.age: expected a whole number in range`,
		`{"guests":[{"age":9223372036854775808}]}`:                    `guests.0.age: expected a whole number in range`,
		`{"guests":[{"stays":"-1s"}]}`:                                `guests.0.stays: "-1s" is not a duration`,
		`{"guests":[{"stays":{}}]}`:                                   `guests.0.stays: a duration is a string`,
		`{"guests":[{"vector":"no base64!"}]}`:                        `guests.0.vector: `,
		`{"guests":[{"role":5}]}`:                                     `guests.0.role: expected a string, got a JSON number`,
		`{"guests":{"age":1}}`:                                        `guests: expected an array`,
		`{"by_name":{"Åsa":{"age":"old"}}}`:                           `by_name.Åsa.age: expected a whole number`,
		`{"leave":[]}`:                                                `leave: expected an object`,
		`{"leave":{"rooms":[1]}}`:                                     `leave.rooms: expected a string`,
		`{"leave":{"room":[]}}`:                                       `leave.room: unknown field`,
		`{"guests":[{"age":1},{"aged":1}]}`:                           `guests.1.aged: unknown field`,
		`{"until":"soon"} and more`:                                   `until: "soon" is not a time`,
		`{"until":"2026-05-20T09:14:00Z"`:                             `malformed JSON`,
		`{"guests":[{"arrives":"2026-05-20T09:14:00Z","stays":NaN}]}`: `malformed JSON`,
	} {
		if err := memory.Decode([]byte(text), &body{}); !errors.Is(err, memory.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; expected %q", text, err, want)
		}
	}
}

func TestEncodeKeepsMarksOfHTML(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<a&b>", 1000)
	body, err := memory.Encode(map[string]string{"text": text})
	if err != nil || string(body) != `{"text":"`+text+`"}` {
		t.Errorf("%d bytes become %d, %v", len(text), len(body), err)
	}
}

func TestAMessageIsOfAYearThatCanBeWritten(t *testing.T) {
	t.Parallel()
	for at, ok := range map[string]bool{
		"9999-12-31T23:59:59-12:00": false, "0000-01-01T00:00:00+14:00": false, "0001-01-01T00:00:00+14:00": false,
		"9999-12-31T23:59:59Z": true, "0001-01-02T00:00:00Z": true, "9999-12-31T23:59:59+14:00": true,
	} {
		m, err := memory.ParseMessage("b", "s", 1, time.Unix(0, 0), []byte(`{"content":"x","time":"`+at+`"}`))
		if (err == nil) != ok {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := memory.Encode(m); err != nil {
			t.Errorf("%s cannot be written: %v", at, err)
		}
	}
}
