package secret_test

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

func ExampleRedact() {
	fmt.Println(secret.Redact("The wifi password is hunter2, and the code word is out."))
	// Output: The wifi password is [redacted:password] and the code word is out.
}

func ExampleNewRedactor() {
	r, err := secret.NewRedactor([]string{`\bEMP-\d{6}\b`})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Redact("Badge EMP-123456 opens the lab."))
	// Output: Badge [redacted:custom] opens the lab.
}
