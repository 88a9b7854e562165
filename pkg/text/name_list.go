package text

import (
	_ "embed"
	"strings"
)

// givenNames are common given names of many languages, by hand.
//
//go:embed names.txt
var givenNames string

// KnownPerson reports whether a word, in any case, is a common given name.
func KnownPerson(word string) bool { return knownNames[strings.ToLower(word)] == 'p' }

// KnownPlace reports whether a word, in any case, is a well-known city, country or continent.
func KnownPlace(word string) bool { return knownNames[strings.ToLower(word)] == 'l' }

// knownNames are words that are names even where they open a sentence: p for a given name, l for a place. Names that
// are ordinary words too (Will, Mark, Grace, Hope, May, Turkey) are left out.
var knownNames = func() map[string]byte {
	m := make(map[string]byte)
	for line := range strings.Lines(givenNames) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for w := range strings.FieldsSeq(line) {
			m[w] = 'p'
		}
	}
	for w := range NewWordSet(placeNames) {
		m[w] = 'l'
	}
	return m
}()

const placeNames = `africa america amsterdam argentina asia athens atlanta auckland australia austria bangkok bangladesh barcelona beijing
	belgium berlin birmingham bogota bolivia boston brazil brisbane bristol brooklyn brussels budapest bulgaria cairo california cambodia
	canada chicago china colombia colorado copenhagen croatia cuba dallas delhi denmark denver detroit dubai dublin ecuador edinburgh egypt
	england ethiopia europe finland florida france frankfurt geneva germany ghana glasgow greece hamburg hanoi havana hawaii helsinki
	houston hungary iceland india indonesia iran iraq ireland israel istanbul italy jakarta jamaica japan jerusalem johannesburg kenya korea
	krakow kyoto lagos leeds lima lisbon liverpool london luxembourg lyon madrid malaysia manchester manhattan manila melbourne mexico miami
	michigan milan minneapolis minnesota montreal morocco moscow mumbai munich nairobi naples nepal netherlands nevada nigeria norway
	ohio oregon osaka oslo ottawa oxford pakistan panama paris pennsylvania peru philadelphia philippines pittsburgh poland porto
	portland portugal prague quebec rome russia scotland seattle seoul shanghai singapore slovakia slovenia spain stockholm sweden
	switzerland sydney taipei taiwan tennessee texas thailand tokyo toronto tunisia uganda ukraine utah vancouver venezuela venice vermont
	vienna vietnam wales warsaw wisconsin york zurich`
