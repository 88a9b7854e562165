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
