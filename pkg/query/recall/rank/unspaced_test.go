package rank_test

import (
	"slices"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
)

// TestThingsInAScriptWithoutSpaces counts the things of a class that texts name.
func TestThingsInAScriptWithoutSpaces(t *testing.T) {
	t.Parallel()
	w := rank.DefaultWeights()
	things := slices.IndexFunc(w.Signals, func(s rank.Signal) bool { return s.Name == "things" })
	for _, c := range []struct{ question, thing, none string }{
		{"好きな食べ物は何ですか？", "毎朝パンを二枚ずつ焼く。", "毎朝パンツを二枚ずつ畳む。"},
		{"どんな楽器が弾けますか？", "弟の部屋からギターの音。", "弟の部屋から階段の音。"},
		{"她有什么宠物？", "家里那只猫又打翻了花瓶。", "家里那个人又打翻了花瓶。"},
		{"她有什么宠物？", "他家养了一只拉布拉多。", "他家养了一只拉布什么？"},
		{"他会什么乐器？", "他每天晚上拉小提琴练习。", "他每天晚上拉小提琴吗？"},
	} {
		q := rank.ParseQuestion(c.question, time.Time{}, nil)
		for _, s := range rank.Rank(q, []rank.Candidate{{ID: c.none, Text: c.none}, {ID: c.thing, Text: c.thing}}, rank.Stats{}, w) {
			if named := s.Parts[things] > 0; named != (s.ID == c.thing) {
				t.Errorf("%s: that %q names a thing is %v", c.question, s.ID, named)
			}
		}
	}
}
