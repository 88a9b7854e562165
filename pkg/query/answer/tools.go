package answer

import "github.com/eunoe-memory/eunoe/pkg/memory"

// The tools of reflect.
const (
	ToolSearch = "search_memory"
	ToolExpand = "expand"
	ToolDone   = "done"
)

const searchSchema = `{"type":"object","additionalProperties":false,"properties":{
"queries":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":5,"description":"what to look for, each by itself"},
"query":{"type":"string","description":"one query, in place of queries"},
"records":{"type":"array","items":{"type":"string","enum":["fact","composite","observation","message"]},"description":"which records; all of them by default"},
"from":{"type":"string","description":"said or happened on or after this date or time, as 2026-05-20 or 2026-05-20T09:00:00Z"},
"to":{"type":"string","description":"said or happened on or before this date or time"},
"limit":{"type":"integer","minimum":1,"maximum":20,"description":"most items for each query"}}}`

const expandSchema = `{"type":"object","additionalProperties":false,"required":["ids"],"properties":{
"ids":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":10,"description":"numbers of items that were shown"}}}`

const doneSchema = `{"type":"object","additionalProperties":false,"required":["answer","citations","found"],"properties":{
"answer":{"type":"string","description":"the answer, with the numbers of items in brackets behind what rests on them"},
"citations":{"type":"array","items":{"type":"integer"},"description":"numbers of the items the answer rests on; empty when memory does not hold it"},
"found":{"type":"boolean","description":"false when memory does not hold the answer"}}}`

// Tools gives the tools of a turn; the last one can only answer.
func Tools(last bool) []memory.Tool {
	done := memory.Tool{Name: ToolDone, Description: "Give the answer. Call it alone.", Schema: []byte(doneSchema)}
	if last {
		return []memory.Tool{done}
	}
	return []memory.Tool{
		{Name: ToolSearch, Description: "Search this memory. Give several queries at once where the question has parts.", Schema: []byte(searchSchema)},
		{Name: ToolExpand, Description: "Show what stands around items: the parts of a composite, what an observation rests on, the messages before and after a message, the history of a fact and who said it.",
			Schema: []byte(expandSchema)},
		done,
	}
}
