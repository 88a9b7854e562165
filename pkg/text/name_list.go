package text

// KnownPerson reports whether a word, in any case, is a common given name.
func KnownPerson(word string) bool { return knownNames[lowerASCII(word)] == 'p' }

// KnownPlace reports whether a word, in any case, is a well-known city, country or continent.
func KnownPlace(word string) bool { return knownNames[lowerASCII(word)] == 'l' }

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// knownNames are words that are names even where they open a sentence: p for a given name, l for a place. Names that
// are ordinary words too (Will, Mark, Grace, Hope, May, Turkey) are left out.
var knownNames = func() map[string]byte {
	m := make(map[string]byte)
	for w := range NewWordSet(givenNames) {
		m[w] = 'p'
	}
	for w := range NewWordSet(placeNames) {
		m[w] = 'l'
	}
	return m
}()

const givenNames = `aaron abby abigail adam adrian ahmed aisha alan albert alejandro alex alexander alexandra alexis ali alice alicia alison
	amanda amelia amir amy ana anastasia andrea andreas andrew andy angela anita ann anna anne annie anthony antonio arjun arthur ashley
	audrey ava barbara beatrice becky ben benjamin bernard beth betty bianca bob bobby brad brandon brenda brian bridget bruce bryan
	calvin cameron camila carl carla carlos carmen carol caroline carolyn catherine cathy cecilia charles charlie charlotte chloe chris
	christian christina christine christopher cindy claire clara colin connor craig cynthia daisy dan dana daniel daniela danny dave david
	deborah debra dennis derek diana diane diego dmitri dominic donald donna dorothy doug douglas dylan eddie eduardo edward edwin eileen
	elaine eleanor elena eli elias elijah elise elizabeth ella ellen emi emil emilia emily emma eric erica erik erin ethan eugene eva evan
	evelyn fatima felix fernando fiona frances francesca francis frank fred gabriel gabriela gary gavin george gerald gina gloria gordon
	greg gregory hannah harold harry heather hector heidi helen helena henry hiroshi howard hugo ian ibrahim igor ingrid irene isaac
	isabel isabella ivan jackie jackson jacob jake james jamie jane janet janice jared jasmine jason javier jay jeff jeffrey jen
	jennifer jenny jeremy jerry jesse jessica jill jim jimmy joan joanna joe joel johan john johnny jolene jon jonas jonathan jorge jose joseph
	josh joshua joyce juan judith judy julia julian julie justin karen karl kate katherine kathleen kathryn kathy katie keith kelly ken
	kenji kenneth kevin kim kimberly kyle lara larry laura lauren laurie leah leo leon leonard leslie liam linda lisa logan lorenzo louis
	louise lucas lucia lucy luis luke lydia lynn madison malik manuel marcus margaret maria marie marina mario marissa martha martin marvin
	mary mateo matt matthew maureen megan mei mel melanie melissa mia michael michelle miguel mike mila mohamed mohammed monica nadia nancy
	naomi natalia natalie natasha nathan neil nicholas nick nicolas nicole nikhil nina noah nora olga oliver olivia omar oscar pablo pamela
	patricia patrick paul paula pedro peter phil philip philippe phoebe priya rachel rafael raj ralph ravi raymond rebecca ricardo richard rick
	rita rob robert roberto robin rodrigo roger ron ronald rosa rosie ross roy russell ruth ryan sabrina sally sam samantha samuel sandra
	sara sarah scott sean sebastian sergei sergio seth shannon sharon sheila simon sofia sophia sophie stacy stanley stella stephanie stephen
	steve steven stuart susan suzanne sven sylvia tamara tanya tara ted teresa terry theo theodore theresa thomas tiffany tim timothy tina
	todd tom tommy tony tracy travis tyler valerie vanessa vera veronica vicky victor victoria vincent virginia vivian vladimir walter wanda
	wayne wendy wesley william xavier yara yasmin yuki yusuf zachary zoe
	emilio fernanda gunther hans jürgen klaus lars mikhail natasha nils pavel pierre søren anders björn camille chloé élodie`

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
