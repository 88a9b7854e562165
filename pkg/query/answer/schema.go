package answer

// The schemas that answers of the judge and of an adequacy round are held to.
const (
	JudgeSchema = `{"type":"object","additionalProperties":false,"required":["judgements"],"properties":{"judgements":{"type":"array","items":{
"type":"object","additionalProperties":false,"required":["n","score"],"properties":{"n":{"type":"integer"},"score":{"type":"number"}}}}}}`
	AdequacySchema = `{"type":"object","additionalProperties":false,"required":["enough","queries"],"properties":{"enough":{"type":"boolean"},
"queries":{"type":"array","items":{"type":"string"}}}}`
)
