// Compiled by `npm run check`, never run: what a program may write, and what it may not.
import { Eunoe, EunoeError, type Schema } from "../index.js";
import { EunoeChatMessageHistory, EunoeRetriever } from "../langchain.js";

const memory = new Eunoe({ bank: "alice" });
const seq: number = await memory.publish("chat", { content: "I am allergic to shellfish.", speaker: "Alice" });
const found = await memory.recall("What is Alice allergic to?", { after: seq });
const texts: string[] = found.items.map((item: Schema<"Item">) => item.text);
const open = await memory.request("conflicts", {});
for await (const change of memory.changes({ after: 3 })) console.log(change.data.record, texts, open);
const documents = await new EunoeRetriever({ client: memory, options: { max_facts: 5 } }).invoke("What is Alice allergic to?");
const messages = await new EunoeChatMessageHistory({ client: memory, session: "chat" }).getMessages();
console.log(documents[0].pageContent, messages[0].text);
// @ts-expect-error a history is of a session
new EunoeChatMessageHistory({ client: memory });
// @ts-expect-error there is no such field
await memory.recall("x", { limits: 3 });
// @ts-expect-error there is no such endpoint
await memory.request("remember", {});
console.log(EunoeError);
