// Client of Eunoe, a long-term memory for chat bots and agents, over HTTP. It needs fetch alone: Node 18, Deno, Bun, or a
// page whose origin the gateway allows. index.d.ts describes what is exported.

const AGAIN = new Set([0, 429, 503]); // no answer, too many requests, away: a request may be repeated

/** A refused or failed request. code is that of the wire contract, 0 where no answer came. */
export class EunoeError extends Error {
  constructor(code, message, field = "", retryAfter = 0) {
    super(field ? `${field}: ${message}` : message);
    this.name = "EunoeError";
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

export class Eunoe {
  #key;

  constructor({ url, bank, key, timeout = 60_000, retries = 3 } = {}) {
    const env = globalThis.process?.env ?? {};
    this.url = (url || env.EUNOE_HTTP_URL || "http://127.0.0.1:8420").replace(/\/+$/, "");
    this.bank = bank || env.EUNOE_BANK || "default";
    this.#key = key || env.EUNOE_KEY || "";
    this.timeout = timeout;
    this.retries = retries;
  }

  of(bank) {
    return new Eunoe({ url: this.url, bank, key: this.#key, timeout: this.timeout, retries: this.retries });
  }

  async publish(session, message) {
    return (await this.publishAll(session, [message]))[0];
  }

  async publishAll(session, messages) {
    return (await this.#ask(this.#path("sessions", session, "messages"), messages)).seqs;
  }

  async flush(session) {
    return (await this.#ask(this.#path("sessions", session, "flush"), {})).seq;
  }

  request(endpoint, body = {}) {
    return this.#ask(this.#path(endpoint), body);
  }

  recall(query, options = {}) {
    return this.request("recall", { query, ...options });
  }

  reflect(query, options = {}) {
    return this.request("reflect", { query, ...options });
  }

  async *reflectStream(query, options = {}) {
    for await (const event of this.#stream("POST", this.#path("reflect"), { query, ...options, stream: true })) {
      if (event.name === "error") throw fault(event.data, 0);
      yield event;
    }
  }

  retain(facts, options = {}) {
    return this.request("retain", { facts: [facts].flat().map((f) => (typeof f === "string" ? { text: f } : f)), ...options });
  }

  forget(what) {
    return this.request("forget", what);
  }

  async waitForgotten(op, timeout = 60_000) {
    const end = Date.now() + timeout;
    for (;;) {
      const wait = Math.max(0, Math.min(10_000, this.timeout / 2, end - Date.now()));
      const receipt = await this.request("forget", { op, wait: `${Math.round(wait)}ms` });
      if (!receipt.pending) return receipt;
      if (Date.now() > end) throw new EunoeError(0, `the forget ${op} was not applied in ${timeout} ms`);
    }
  }

  snapshot(scopes = [], options = {}) {
    return this.request("snapshot", { ...(scopes.length ? { scopes } : {}), ...options });
  }

  recalls(limit) {
    return this.request("recalls", limit ? { limit } : {});
  }

  apply(changes, options = {}) {
    return this.request("apply", { changes, ...options });
  }

  undo(op, options = {}) {
    return this.request("undo", { apply: op, ...options });
  }

  get(id) {
    return this.request("get", { id });
  }

  status() {
    return this.request("status");
  }

  async waitSettled(timeout = 60_000) {
    const end = Date.now() + timeout;
    for (;;) {
      const status = await this.status();
      if (status.settled) return status;
      if (Date.now() > end) throw new EunoeError(0, `the bank ${this.bank} did not settle in ${timeout} ms`);
      await sleep(100);
    }
  }

  async *changes({ after, signal } = {}) {
    let last = after ? String(after) : "";
    while (!signal?.aborted) {
      try {
        for await (const event of this.#stream("GET", this.#path("events"), undefined, last, signal)) {
          last = event.id || last;
          yield event;
        }
      } catch (err) {
        if (signal?.aborted) return;
        if (!(err instanceof EunoeError) || !AGAIN.has(err.code)) throw err;
        await sleep(Math.max(500, err.retryAfter * 1000));
      }
    }
  }

  #path(...parts) {
    return "/v1/banks/" + [this.bank, ...parts].map(encodeURIComponent).join("/");
  }

  async #open(method, path, body, headers, signal) {
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.#key) headers.Authorization = `Bearer ${this.#key}`;
    let answer;
    try {
      answer = await fetch(this.url + path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
    } catch (err) {
      throw new EunoeError(0, `no answer from ${this.url}: ${err?.cause?.message ?? err?.message ?? err}`);
    }
    if (answer.ok) return answer;
    throw fault(await answer.json().catch(() => ({})), answer.status, answer.headers.get("Retry-After"));
  }

  async #ask(path, body) {
    const key = body?.op || (globalThis.crypto?.randomUUID?.() ?? `${Date.now()}-${Math.random()}`);
    for (let attempt = 0; ; attempt++) {
      try {
        const headers = { Accept: "application/json", "Idempotency-Key": key };
        const answer = await this.#open("POST", path, body, headers, AbortSignal.timeout(this.timeout));
        return await answer.json().catch((err) => {
          throw new EunoeError(0, `the answer of ${this.url} ended early: ${err.message}`);
        });
      } catch (err) {
        if (!(err instanceof EunoeError) || !AGAIN.has(err.code) || attempt >= this.retries) throw err;
        await sleep(err.retryAfter * 1000 || 100 * 2 ** attempt);
      }
    }
  }

  async *#stream(method, path, body, last, signal) {
    const headers = { Accept: "text/event-stream" };
    if (last) headers["Last-Event-ID"] = last;
    const stop = new AbortController();
    const ended = () => stop.abort();
    signal?.addEventListener("abort", ended);
    try {
      const answer = await this.#open(method, path, body, headers, stop.signal);
      let rest = "";
      let event = { name: "message", data: [], id: "" };
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop();
        for (const line of lines.map((l) => l.replace(/\r$/, ""))) {
          if (line === "") {
            if (event.data.length) yield { ...event, data: JSON.parse(event.data.join("\n")) };
            event = { name: "message", data: [], id: "" };
            continue;
          }
          const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line);
          if (field === "event") event.name = value;
          else if (field === "data") event.data.push(value);
          else if (field === "id") event.id = value;
        }
      }
    } catch (err) {
      throw err instanceof EunoeError ? err : new EunoeError(0, `the stream of ${this.url} was lost: ${err?.message ?? err}`);
    } finally {
      signal?.removeEventListener("abort", ended);
      stop.abort();
    }
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function fault(body, status, after) {
  const f = body?.error ?? body ?? {};
  return new EunoeError(Number(f.code ?? status) || status, f.message ?? `status ${status}`, f.field ?? "", Number(after) || 0);
}
