package score

import "strconv"

// MultiHop is the category of LoCoMo whose questions rest on several turns.
const MultiHop = 1

var categoryNames = map[int]string{MultiHop: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

// Group is a set of categories that is averaged over.
type Group struct {
	Key  string // 1 to 5, 1-4 or 1-5
	Name string // of its row in a table
	has  func(category int) bool
}

// Groups returns the five categories, then 1 to 4 and 1 to 5 together.
func Groups() []Group {
	var out []Group
	for c := 1; c <= 5; c++ {
		key := strconv.Itoa(c)
		out = append(out, Group{key, key + " " + categoryNames[c], func(x int) bool { return x == c }})
	}
	return append(out,
		Group{"1-4", "all of 1-4", func(x int) bool { return x != 5 }},
		Group{"1-5", "all of 1-5", func(int) bool { return true }})
}

// Of returns the questions of the group, in order.
func (g Group) Of(all []Scored) []Scored {
	var out []Scored
	for _, s := range all {
		if g.has(s.Category) {
			out = append(out, s)
		}
	}
	return out
}

// Mean averages a metric over questions; 0 for none.
func Mean(list []Scored, metric string) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range list {
		sum += s.Score[metric]
	}
	return sum / float64(len(list))
}

// ByGroup averages each metric over each group that has questions, by the group's key.
func ByGroup(all []Scored) map[string]Score {
	out := map[string]Score{}
	for _, g := range Groups() {
		list := g.Of(all)
		if len(list) == 0 {
			continue
		}
		out[g.Key] = Means(list)
	}
	return out
}

// Means averages each metric over questions.
func Means(list []Scored) Score {
	s := Score{}
	for _, m := range Metrics {
		s[m] = Mean(list, m)
	}
	return s
}
