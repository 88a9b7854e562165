package statement_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/consolidate/plan/statement"
)

func TestRelate(t *testing.T) {
	t.Parallel()
	const stands, corrected, denied = statement.Unrelated, statement.Correction, statement.Contradiction
	for _, c := range []struct {
		older, newer string
		want         statement.Relation
	}{
		{"Mira smokes two cigars a day.", "Mira quit smoking.", corrected},
		{"Mira sings in the church choir.", "Mira left the choir last week.", corrected},
		{"Mira works at Nokia.", "Mira quit Nokia in March.", corrected},
		{"Mira's brother works as a cook.", "Mira quit her job.", stands},
		{"Mira drives a Volvo.", "Mira sold the Volvo and bought a scooter.", corrected},
		{"Mira has a hamster.", "Mira gave the hamster away.", corrected},
		{"Mira has a hamster.", "Mira got a second hamster.", stands},
		{"Mira is engaged to Jonas.", "Jonas and Mira broke up.", corrected},
		{"Mira is friends with Jonas.", "Mira and Paul broke up.", stands},
		{"Mira's boat is called Gull.", "Mira renamed the boat Heron.", corrected},
		{"Mira said: The rehearsal is on Monday.", "Mira said: The rehearsal was moved to Thursday.", corrected},
		{"Mira's rehearsal is on Monday.", "Mira's haircut was moved to Thursday.", stands},
		{"Mira said: The picnic is on Sunday.", "Mira said: The picnic is off.", corrected},
		{"Mira is keen on the picnic.", "Mira is off to town.", stands},
		{"Mira's rent is 700 euros.", "Mira's rent went up to 760 euros.", corrected},
		{"Mira's rent is 700 euros.", "Mira's rent is 760 euros.", denied},
		{"Mira's coach is Mr. Lund.", "Mira's new coach is Mrs. Dahl.", corrected},
		{"Mira's friend is Hugo.", "Mira's new friend is Nils.", stands},
		{"Mira wants to study physics.", "Mira wants to study music instead.", corrected},
		{"Mira cooks with butter.", "Mira cooks with oil instead of butter.", stands},
		{"Mira plays the flute.", "Mira plays the harp now.", stands},
		{"Mira hates olives.", "Mira likes olives now.", corrected},
		{"Mira likes olives.", "Mira hates olives.", denied},
		{"Mira is allergic to wool.", "Turns out Mira is not allergic to wool.", corrected},
		{"Mira is allergic to wool.", "Mira is allergic to dust.", stands},
		{"Mira is vegetarian.", "Mira eats chicken again.", corrected},
		{"Mira's hair is brown.", "Mira's hair is red now.", corrected},
		{"Mira's mother is a dentist.", "Mira's mother is retired now.", stands},
		{"Mira ran 5 km on Monday.", "Mira ran 8 km today.", stands},
		{"Mira moved to Espoo.", "Mira meant Turku, not Espoo.", corrected},
		{"Mira read Hamlet.", "Mira stopped reading Hamlet.", corrected},
		{"Mira smokes two cigars a day.", "Mira wants to quit smoking.", stands},
		{"Mira smokes two cigars a day.", "Mira did not quit smoking.", stands},
		{"Mira said: We have a goat named Pepe.", "Mira said: Sadly, Pepe died on Sunday.", corrected},
		{"Mira has been with Nokia for six years.", "Mira handed in her notice at Nokia.", corrected},
		{"Mira said: I'm the secretary of our chess club.", "Mira stepped down as secretary.", corrected},
		{"Mira's coach is Mr. Lund.", "Mira said: We have a new coach, Mrs. Dahl.", corrected},
		{"Mira subscribes to the Herald.", "Mira let her Herald subscription lapse.", corrected},
		{"Mira goes to the pool twice a week.", "Mira hasn't been to the pool in months.", corrected},
		{"Mira's son's name is Ove.", "Mira's son changed his name to Lea.", corrected},
		{"Mira is coeliac.", "The doctor says Mira is actually not coeliac.", corrected},
		{"Mira uses Android on her tablet.", "Mira switched her tablet to Lineage.", denied},
		{"Mira's tablet is heavy.", "Paul switched his tablet to Lineage.", stands},
		{"Mira takes the tram to school.", "Mira walks to school now.", denied},
		{"Mira lives in a shared flat in Oulu.", "Mira lives alone now.", corrected},
		{"Mira lives alone.", "Mira lives in Turku now.", stands},
		{"Mira has one child.", "Mira said: We have two children now.", corrected},
		{"Mira has two cats.", "Mira has three dogs now.", stands},
		{"Mira weighs 82 kilos.", "Mira is down to 76 kilos.", corrected},
		{"Mira lifts 82 kilos.", "Mira drinks three coffees now.", stands},
		{"Mira drinks two cups of tea a day.", "Mira is down to one cup of coffee.", stands},
		{"Mira is in Year 12.", "Mira is in Year 13 now.", corrected},
		{"Mira is on 20 mg of sertraline.", "Mira's dose was raised to 50 mg of sertraline.", corrected},
		{"Mira drives a Skoda.", "Mira traded the Skoda in for a Fiat.", corrected},
		{"Mira said: We're having the picnic on 6 June.", "Mira said: The picnic is now on 13 June.", corrected},
		{"Mira said: The office picnic is on 6 June.", "Mira said: The office is now at Market Street.", stands},
		{"Mira's flight is at 9:40.", "Mira's flight has been rebooked to 14:05.", corrected},
		{"Mira smokes ten a day.", "Mira hasn't smoked for three weeks.", corrected},
		{"Mira sleeps on the couch.", "Mira hasn't slept for three days.", stands},
		{"Mira is single.", "Mira is seeing someone called Nadia.", corrected},
		{"Mira is single.", "Mira is seeing the doctor on Monday.", stands},
		{"Mira's daughter is in nursery.", "Mira's daughter started school.", corrected},
		{"Mira said: Our wifi is with Elisa.", "Mira said: We switched our wifi to Telia.", denied},
		{"Mira's tablet is heavy.", "Mira switched her tablet to Lineage.", stands},
		{"Mira said: Our project is called Heron.", "Mira said: Our project is now called Osprey.", corrected},
		{"Mira prefers window seats.", "Mira prefers aisle seats now.", corrected},
		{"Mira prefers window seats.", "Mira prefers tea now.", stands},
		{"Mira is going to apply to the museum.", "Mira decided not to apply to the museum.", corrected},
		{"Mira's lesson with Ilse is at noon.", "Mira's lesson with Ilse was moved to 4 pm.", corrected},
		{"Mira is engaged to Olof.", "Mira ended the engagement with Olof.", corrected},
		{"Mira is friends with Olof.", "Mira called off the engagement with Peer.", stands},
		{"Mira is expecting twins.", "Mira gave birth on Sunday.", corrected},
		{"Mira is pregnant.", "Mira's sister had a baby.", stands},
		{"Mira's sister is pregnant.", "Mira gave birth on Sunday.", stands},
		{"Mira is jobless.", "Mira got a job as a ferry steward.", corrected},
		{"Mira is in hospital.", "Mira was discharged on Friday.", corrected},
		{"Mira works at Nokia.", "Mira retired in May.", corrected},
		{"Mira is looking for a flat.", "Mira finally found a flat in Pori.", corrected},
		{"Mira wants to buy a kayak.", "Mira bought a tent.", stands},
		{"Mira wants to buy a kayak.", "Mira bought a kayak.", corrected},
		{"Mira uses Chrome for work.", "Mira switched to Vivaldi for work.", corrected},
		{"Mira uses Chrome.", "Mira switched to Vivaldi.", denied},
		{"Mira drinks tea.", "Mira switched to Vivaldi.", stands},
		{"Mira uses Chrome for work.", "Mira switched to the night shift.", stands},
		{"Mira said: The choir has 14 members.", "Mira said: The choir grew to 19 members.", corrected},
		{"Mira's nephew goes to nursery.", "Mira's nephew is at primary school now.", denied},
		{"Mira's nephew goes to nursery.", "Mira's nephew is in the garden now.", stands},
		{"Mira is unemployed.", "Mira found a job at the mint.", corrected},
		{"Mira is in Riga.", "Mira is back from Riga.", corrected},
		{"Mira loves Riga.", "Mira is back from Riga.", stands},
		{"Mira's flatmate is Otto.", "Otto moved out.", corrected},
		{"Mira's brother is Otto.", "Otto moved out.", stands},
		{"Mira has a subscription to Spotify.", "Mira cancelled Spotify.", corrected},
		{"Mira's plan is to hike in Wales.", "Mira is going to hike in Crete instead of Wales.", corrected},
		{"Mira loves Wales.", "Mira is going to Crete instead of Wales.", stands},
		{"Mira has a canoe.", "Mira is busy, and sold the canoe on Monday.", corrected},
	} {
		t.Run(c.older+" "+c.newer, func(t *testing.T) {
			t.Parallel()
			if got := statement.Relate(statement.Read(c.newer, nil), statement.Read(c.older, nil)); got != c.want {
				t.Errorf("relation %d, want %d", got, c.want)
			}
		})
	}
}
