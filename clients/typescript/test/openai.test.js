// OpenAI's own client talks through the chat proxy to a model. EUNOE_CHAT_UPSTREAM of the gateway is a scripted model.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI from "openai";

import { Eunoe } from "../index.js";

const memory = new Eunoe({ bank: "openai" });
const openai = new OpenAI({ baseURL: `${memory.url}/v1/banks/openai`, apiKey: "sk-of-the-upstream", maxRetries: 0, defaultHeaders: { "X-Eunoe-Session": "talk" } });
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } } }];

test("completions, streams, tools and errors pass, and both turns are kept", async () => {
  const seq = await memory.publish("earlier", { speaker: "Ann", content: "I live in Porto since May." });
  await memory.recall("Porto", { after: seq });

  const messages = [{ role: "user", content: "Where do I live?" }];
  const { data, response } = await openai.chat.completions.create({ model: "testmodel", messages }).withResponse();
  assert.equal(data.choices[0].message.content, "You live in Porto.");
  assert.ok(Number(response.headers.get("x-eunoe-recalled")) > 0);
  assert.ok(data.usage.prompt_tokens > 40, "the model was not shown what memory holds");

  messages.push(data.choices[0].message, { role: "user", content: "How is the weather there?" });
  const stream = openai.chat.completions.stream({ model: "testmodel", messages, tools, stream_options: { include_usage: true } });
  const call = (await stream.finalChatCompletion()).choices[0].message.tool_calls[0];
  assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ["weather", { city: "Porto" }]);

  messages.push({ role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: call.id, content: "rain" });
  let text = "";
  for await (const chunk of await openai.chat.completions.create({ model: "testmodel", messages, tools, stream: true })) text += chunk.choices[0]?.delta?.content ?? "";
  assert.equal(text, "It rains in Porto. Take a coat, and an umbrella.");

  await assert.rejects(openai.chat.completions.create({ model: "testmodel", messages: [{ role: "user", content: "fail" }] }), (err) => err instanceof OpenAI.RateLimitError);
  await assert.rejects(openai.chat.completions.create({ model: "testmodel", messages: "hello" }), (err) => err.status === 400 && /messages/.test(err.message));

  const end = Date.now() + 20_000;
  let kept = [];
  while (kept.length < 5 && Date.now() < end) {
    kept = (await memory.request("list", { record: "message", order: "oldest", session: "talk" })).items;
  }
  assert.deepEqual(kept.map((m) => [m.role, m.text]), [
    ["user", "Where do I live?"],
    ["assistant", "You live in Porto."],
    ["user", "How is the weather there?"],
    ["assistant", text],
    ["user", "fail"],
  ]);
});
