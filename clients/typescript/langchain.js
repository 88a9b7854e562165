// Eunoe for LangChain.js: a retriever and a message history on the client. It needs @langchain/core.

import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { Document } from "@langchain/core/documents";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { BaseRetriever } from "@langchain/core/retrievers";

import { EunoeError } from "./index.js";

const ROLES = { human: "user", ai: "assistant", system: "system", tool: "tool", function: "tool" };

/** Finds what is relevant to a query, as documents. */
export class EunoeRetriever extends BaseRetriever {
  lc_namespace = ["eunoe", "retrievers"];

  static lc_name() {
    return "EunoeRetriever";
  }

  constructor({ client, options = {}, ...fields }) {
    super(fields);
    this.client = client;
    this.options = options;
  }

  async _getRelevantDocuments(query) {
    try {
      const { items } = await this.client.recall(query, this.options);
      return items.map(({ id, text, ...metadata }) => new Document({ id, pageContent: text, metadata }));
    } catch (err) {
      if (err instanceof EunoeError && err.code === 404) return []; // nobody said anything yet
      throw err;
    }
  }
}

/** The messages of a session. clear begins another one; the bank forgets nothing. */
export class EunoeChatMessageHistory extends BaseListChatMessageHistory {
  lc_namespace = ["eunoe", "chat_history"];

  static lc_name() {
    return "EunoeChatMessageHistory";
  }

  #last = 0;

  constructor({ client, session, speaker }) {
    super();
    this.client = client;
    this.session = session;
    this.speaker = speaker;
  }

  async addMessage(message) {
    const role = ROLES[message.getType()] ?? "user";
    const speaker = message.name ?? (role === "user" ? this.speaker : undefined);
    if (message.text === "") return; // a call of a tool alone
    this.#last = await this.client.publish(this.session, { role, content: message.text, ...(speaker ? { speaker } : {}) });
  }

  async getMessages() {
    const out = [];
    try {
      // A list does not wait for what was published, a recall does.
      if (this.#last) await this.client.recall(this.session, { after: this.#last, max_facts: 1 });
      let cursor = "";
      do {
        const page = await this.client.request("list", { record: "message", order: "oldest", session: this.session, ...(cursor ? { cursor } : {}) });
        out.push(...page.items.map(messageOf));
        cursor = page.next ?? "";
      } while (cursor);
    } catch (err) {
      if (!(err instanceof EunoeError) || err.code !== 404) throw err;
    }
    return out;
  }

  async clear() {
    if (this.#last) await this.client.flush(this.session);
    this.session = `langchain:${globalThis.crypto.randomUUID()}`;
    this.#last = 0;
  }
}

function messageOf({ id, role, text, speaker }) {
  const fields = { id, content: text, ...(speaker && speaker !== role ? { name: speaker } : {}) };
  switch (role) {
    case "assistant":
      return new AIMessage(fields);
    case "system":
      return new SystemMessage(fields);
    case "tool":
      return new ToolMessage({ ...fields, tool_call_id: id });
  }
  return new HumanMessage(fields);
}
