package score

import "sort"

// AUC returns the share of pairs of which the first list's number is the higher one, a tie counting half: 1 if the lists
// do not overlap, about .5 if nothing tells them apart. It is 0 where a list is empty. Both lists are sorted.
func AUC(higher, lower []float64) float64 {
	if len(higher) == 0 || len(lower) == 0 {
		return 0
	}
	sort.Float64s(higher)
	sort.Float64s(lower)
	sum, below, upto := 0.0, 0, 0
	for _, x := range higher {
		for below < len(lower) && lower[below] < x {
			below++
		}
		for upto < len(lower) && lower[upto] <= x {
			upto++
		}
		sum += float64(below+upto) / 2
	}
	return sum / float64(len(higher)) / float64(len(lower))
}
