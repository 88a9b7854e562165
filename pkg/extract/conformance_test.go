package extract_test

import "testing"

func TestConformance(t *testing.T) {
	t.Parallel()
	conformUsage(t)
	conformTags(t)
}
