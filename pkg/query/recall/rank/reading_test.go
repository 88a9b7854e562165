package rank

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// Words are skipped by their prefix, so a stem must begin like its words.
func TestAStemBeginsAsItsWordsDo(t *testing.T) {
	var unread []string
	try := func(w string) {
		r := newReader(Question{Terms: []Term{{Stem: text.BaseStem(w), Word: text.BaseStem(w)}}}, 0, Weights{})
		if !r.mayMatch([]byte(w)) {
			unread = append(unread, w)
		}
	}
	letters := "abcdefghijklmnopqrstuvwxyz"
	for _, a := range letters {
		for _, b := range letters {
			for _, end := range []string{"", "s", "y", "ed", "ing", "ly", "ies", "er", "ion"} {
				try(string(a) + string(b) + end)
				for _, c := range letters {
					try(string(a) + string(b) + string(c) + end)
				}
			}
			for _, c := range letters {
				for _, d := range "aeilnrsty" {
					for _, end := range []string{"", "ed", "ing", "ies", "y"} {
						try(string(a) + string(b) + string(c) + string(d) + end)
					}
				}
			}
		}
	}
	if diff := cmp.Diff([]string(nil), unread); diff != "" {
		t.Errorf("words that are never read as their own stem:\n%s", diff)
	}
}

func TestQuestionMarksAreTheSameInTextsAndSentences(t *testing.T) {
	marks := 0
	for r := range rune(0x10000) {
		if !utf8.ValidRune(r) {
			continue
		}
		if isQuestionMark(r) {
			marks++
		}
		if got := HasQuestionMark("a" + string(r) + "b"); got != isQuestionMark(r) {
			t.Errorf("%q ends a question: %t; a text with it asks: %t", r, !got, got)
		}
	}
	if marks < 3 {
		t.Errorf("%d question marks, want those of Latin, Chinese and Arabic", marks)
	}
}

func TestReadingOnTwoCoresChangesNothing(t *testing.T) {
	q := ParseQuestion("When did Anna buy tickets for the concert in Lisbon with the kids?", time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), []string{"Anna"})
	words := strings.Fields("Anna bought tickets? We went to Lisbon with my kid and a cat. Concerts last long yesterday")
	c := make([]Candidate, 3*minParallel)
	for i := range c {
		text := ""
		for j := range 12 {
			text += words[(i*7+j*(i%5+1))%len(words)] + " "
		}
		c[i] = Candidate{ID: strconv.Itoa(i), Seq: uint64(i), Session: "s", Pos: i, Text: text + strconv.Itoa(i), Caption: words[i%len(words)]}
		if i > 1 {
			c[i].Prev, c[i].Prev2 = &Neighbour{Text: c[i-1].Text}, &Neighbour{Text: c[i-2].Text, Caption: c[i-2].Caption}
		}
	}
	both, one := newReader(q, len(c), Weights{Family: .5}), newReader(q, len(c), Weights{Family: .5})
	read, want := both.readAll(c), make([]readings, len(c))
	one.readEach(c, want)
	if diff := cmp.Diff(want, read, cmp.AllowUnexported(readings{}, message{}, reading{})); diff != "" {
		t.Fatalf("candidates are read otherwise on two cores:\n%s", diff)
	}
	if runtime.GOMAXPROCS(0) > 1 && len(both.seen) == len(one.seen) {
		t.Error("one core read all of them")
	}
}
