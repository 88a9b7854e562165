package consolidate_test

import (
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// TestASecretOnAPictureIsRedacted: a caption is found and shown as the text is.
func TestASecretOnAPictureIsRedacted(t *testing.T) {
	t.Parallel()
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	names := events.Naming{}
	body := `{"content":"Look at our fridge.","images":[{"caption":"a note: das WLAN-Passwort ist Hase99&x"},{"sha256":"9f86","caption":"two cats"}]}`
	e := names.NewEvent(names.Messages(), names.MessageSubject("quay", "s"), 1, time.Now(), []byte(body), nil)
	batch, err := consolidate.DecodeMessages(t.Context(), []events.Event{e}, redactor, nil)
	if err != nil || len(batch.Kept) != 1 {
		t.Fatalf("%v, %v", batch, err)
	}
	if got, want := batch.Kept[0].Message.Caption(), "a note: das WLAN-Passwort ist [redacted:password]\ntwo cats"; got != want {
		t.Errorf("the captions are %q, want %q", got, want)
	}
}
