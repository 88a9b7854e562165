// Tests against a running Eunoe, whose address is EUNOE_HTTP_URL: npm test
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { Eunoe, EunoeError } from "../index.js";

const fresh = (options) => new Eunoe({ bank: `ts ${randomUUID()}/é`, ...options });

const refused = (code, field) => (err) => err instanceof EunoeError && err.code === code && err.field === field;

test("what was published is found with its source", async () => {
  const memory = fresh();
  const seq = await memory.publish("chat", { id: "m1", speaker: "Una", content: "My cello is at the repair shop." });
  const found = await memory.recall("Where is the cello?", { after: seq });
  assert.ok(found.items[0].sources.includes("m1"));
  await memory.flush("chat");
  assert.equal((await memory.waitSettled()).conservation.committed, 1);
});

test("a batch is published in order or not at all", async () => {
  const memory = fresh();
  const seqs = await memory.publishAll("s", Array.from({ length: 10 }, (_, n) => ({ content: `Drawer ${n} holds maps.`, speaker: "Una" })));
  assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));
  await assert.rejects(memory.publishAll("s", [{ content: "fine" }, { content: "x", role: "king" }]), refused(400, "1.role"));
  await memory.flush("s");
  assert.equal((await memory.waitSettled()).conservation.published, 10);
});

test("what was forgotten is not found", async () => {
  const memory = fresh();
  const { results } = await memory.retain(["Una sails.", { text: "Una lives in Turku." }]);
  assert.equal((await memory.get(results[0].id)).text, "Una sails.");
  const { op } = await memory.forget({ id: results[0].id });
  assert.equal((await memory.waitForgotten(op)).facts, 1);
  await assert.rejects(memory.get(results[0].id), (err) => err instanceof EunoeError && err.code === 404);
});

test("changes are applied, shown and taken back", async () => {
  const memory = fresh();
  const { results } = await memory.retain(["Una sails.", "Una owns a boat."]);
  const ids = results.map((r) => r.id);
  const applied = await memory.apply([{ op: "merge", ids }]);
  const [part] = (await memory.snapshot(["recent:5"], { max_tokens: 500 })).parts;
  assert.equal(part.items.length, 1);
  await memory.undo(applied.op);
  assert.equal((await memory.snapshot(["recent:5"])).parts[0].items.length, 2);
  await assert.rejects(memory.undo(applied.op), (err) => err instanceof EunoeError && err.code === 409 && err.field === "apply");
});

test("changes are followed and resumed", async () => {
  const memory = fresh();
  await memory.retain("Una has a drum.");
  let after = (await memory.request("changes")).items.at(-1).seq;
  for (const text of ["Una has a flute.", "Una has a harp."]) {
    const { results } = await memory.retain(text);
    for await (const change of memory.changes({ after })) {
      assert.ok(Number(change.id) > after);
      after = Number(change.id);
      if (change.name === "fact" && change.data.record === results[0].id) break;
    }
  }
});

test("an answer ends with the whole reply", async () => {
  const memory = fresh();
  await memory.retain("Una is allergic to latex.");
  const events = [];
  for await (const event of memory.reflectStream("What is Una allergic to?")) events.push(event);
  assert.equal(events.at(-1).name, "done");
  assert.match(JSON.stringify(events.at(-1).data), /latex/);
});

test("a refusal says code and field", async () => {
  await assert.rejects(fresh().recall(""), refused(400, "query"));
  await assert.rejects(fresh().recall("x", { limits: 1 }), refused(400, "limits"));
  await assert.rejects(fresh().request("remember"), (err) => err.code === 404);
  await assert.rejects(fresh({ url: "http://127.0.0.1:9", retries: 0 }).status(), (err) => err.code === 0 && /127\.0\.0\.1:9/.test(err.message));
});

test("a request that was refused for now is repeated with its key", async () => {
  const keys = [];
  const server = createServer((req, res) => {
    keys.push(req.headers["idempotency-key"]);
    req.resume().on("end", () => {
      if (keys.length < 3) res.writeHead(503, { "Retry-After": "0" }).end('{"error":{"code":503,"message":"away"}}');
      else res.end('{"seq":4,"seqs":[4]}');
    });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  try {
    assert.equal(await fresh({ url: `http://127.0.0.1:${server.address().port}` }).publish("s", { content: "hello" }), 4);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});
