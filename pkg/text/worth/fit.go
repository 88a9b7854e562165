package worth

import (
	"math"
	"math/rand/v2"
)

// Example is a sentence with its class.
type Example struct {
	Sentence
	Class Class
}

// How the weights are fitted: a multinomial logistic regression by stochastic gradient descent, with AdaGrad.
const (
	epochs   = 10
	rate     = .1
	biasRate = .005
	decay    = 1e-4
)

// Fit returns the model that fits the examples. The same examples result in the same model.
func Fit(examples []Example) *Model {
	m := &Model{w: make([][classes]float32, buckets)}
	squares := make([][classes]float32, buckets)
	seen := make([][]feature, len(examples))
	for i, e := range examples {
		seen[i] = features(e.Sentence)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // an order, and the same one every time
	order := random.Perm(len(examples))
	for range epochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			p := m.scores(seen[i])
			p[examples[i].Class]--
			for c := range p {
				m.bias[c] -= biasRate * p[c]
			}
			for _, f := range seen[i] {
				w, sum := &m.w[f.bucket], &squares[f.bucket]
				for c := range p {
					d := p[c]*f.value + decay*w[c]
					sum[c] += d * d
					w[c] -= rate * d / float32(math.Sqrt(float64(sum[c])+1e-6))
				}
			}
		}
	}
	return m
}
