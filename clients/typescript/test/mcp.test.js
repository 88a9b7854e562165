// A client that its protocol's authors wrote does a day's work with the tools, over both transports.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { EUNOE_HTTP_URL, EUNOE_PROGRAM, EUNOE_URL } = process.env;

const transports = {
  stdio: () => new StdioClientTransport({ command: EUNOE_PROGRAM, args: ["mcp", "--bank", "stdio", "--tools", "all", "--url", EUNOE_URL] }),
  http: () => new StreamableHTTPClientTransport(new URL(`${EUNOE_HTTP_URL}/mcp/http?tools=all`)),
};

for (const [name, transport] of Object.entries(transports)) {
  test(`a day's work by ${name}`, async () => {
    const client = new Client({ name: "day", version: "1" });
    await client.connect(transport());
    const call = async (tool, args) => {
      const { content, isError } = await client.callTool({ name: tool, arguments: args });
      assert.equal(content.length, 1);
      return { text: content[0].text, refused: isError === true };
    };
    const says = async (tool, args, ...words) => {
      const { text, refused } = await call(tool, args);
      assert.ok(!refused, `${tool}: ${text}`);
      for (const w of words) assert.ok(text.includes(w), `${tool}: ${text} has no ${w}`);
      return text;
    };
    const id = (text, kind = "f") => new RegExp(`\\[(${kind}_[^\\]]+)\\]`).exec(text)[1];

    const { tools } = await client.listTools();
    assert.ok(tools.some((t) => t.name === "memory_recall") && !tools.some((t) => t.name === "memory_answer"));
    assert.match(client.getInstructions(), /data/);

    // remember and recall
    const first = id(await says("memory_remember", { text: "Priya keeps two ferrets.", entities: ["person:priya"] }, "added"));
    await says("memory_recall", { query: "Which pets does Priya keep?" }, "ferrets", first);
    const wrong = await call("memory_recall", { question: "pets" });
    assert.ok(wrong.refused && wrong.text.includes("query"));

    // correct
    const now = id(await says("memory_correct", { id: first, text: "Priya keeps three ferrets." }, "corrected"));
    await says("memory_get", { ids: [now], history: true }, "two ferrets", "three ferrets");

    // a conflict, and its end
    const loves = id(await says("memory_remember", { text: "Priya loves opera music.", entities: ["person:priya"] }));
    await says("memory_remember", { text: "Priya hates opera music.", entities: ["person:priya"] });
    const open = await says("memory_conflicts", {}, "loves", "hates");
    await says("memory_conflicts", { id: id(open, "x"), winner: loves }, "resolved");
    await says("memory_conflicts", {}, "no open conflicts");

    // forget, with a preview first
    const preview = await says("memory_forget", { id: now }, "would erase", "three ferrets");
    await says("memory_recall", { query: "Which pets does Priya keep?" }, "three ferrets");
    await says("memory_forget", { id: now, confirm: preview.split(" ").at(-1) }, "erased");
    assert.ok(!(await call("memory_recall", { query: "Which pets does Priya keep?" })).text.includes("three ferrets"));
    await client.close();
  });
}
