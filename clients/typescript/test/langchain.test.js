import assert from "node:assert/strict";
import { test } from "node:test";

import { AIMessage, HumanMessage } from "@langchain/core/messages";

import { Eunoe } from "../index.js";
import { EunoeChatMessageHistory, EunoeRetriever } from "../langchain.js";

const client = new Eunoe({ bank: "langchain" });

test("a bank that holds nothing gives nothing", async () => {
  assert.deepEqual(await new EunoeRetriever({ client: client.of("nobody") }).invoke("Who?"), []);
  assert.deepEqual(await new EunoeChatMessageHistory({ client: client.of("nobody"), session: "s" }).getMessages(), []);
});

test("messages are kept, and found as documents", async () => {
  const history = new EunoeChatMessageHistory({ client, session: "monday", speaker: "Ann" });
  await history.addUserMessage("My boat is called Marlin.");
  await history.addMessage(new AIMessage("A fine name."));
  await history.addMessage(new HumanMessage({ content: [{ type: "text", text: "It has a red hull." }], name: "Bo" }));
  await history.addMessage(new AIMessage({ content: "", tool_calls: [{ name: "x", args: {}, id: "1" }] }));
  const messages = await history.getMessages();
  assert.deepEqual(messages.map((m) => [m.getType(), m.text, m.name]), [
    ["human", "My boat is called Marlin.", "Ann"],
    ["ai", "A fine name.", undefined],
    ["human", "It has a red hull.", "Bo"],
  ]);
  const found = await new EunoeRetriever({ client, options: { max_facts: 5 } }).invoke("What is the boat called?");
  assert.ok(found.length > 0 && found.length <= 5);
  assert.match(found[0].pageContent, /Marlin/);
  assert.ok(found[0].id && found[0].metadata.record);
  await history.clear();
  assert.deepEqual(await history.getMessages(), []);
  assert.equal((await new EunoeChatMessageHistory({ client, session: "monday" }).getMessages()).length, 3);
});
