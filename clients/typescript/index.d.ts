import type { components, paths } from "./openapi.js";

/** The bodies of the wire contract by name: Schema<"Item">, Schema<"RecallReply">, … */
export type Schema<N extends keyof components["schemas"]> = components["schemas"][N];

type BankPath = "/v1/banks/{bank}/";
type Post<P> = P extends { post: { requestBody: { content: { "application/json": infer In } }; responses: { 200: { content: { "application/json": infer Out } } } } }
  ? { in: In; out: Out }
  : never;

/** The endpoints of a bank: recall, reflect, retain, … */
export type Endpoint = {
  [P in keyof paths]: P extends `${BankPath}${infer Name}` ? (Name extends `${string}/${string}` ? never : Post<paths[P]> extends never ? never : Name) : never;
}[keyof paths];

export type Request<E extends Endpoint> = Post<paths[`${BankPath}${E}`]>["in"];
export type Reply<E extends Endpoint> = Post<paths[`${BankPath}${E}`]>["out"];

export interface Options {
  /** Where Eunoe answers HTTP; default EUNOE_HTTP_URL, else http://127.0.0.1:8420. */
  url?: string;
  /** The memory to work with; default EUNOE_BANK, else "default". */
  bank?: string;
  /** The seed that `eunoe auth` made; default EUNOE_KEY, else none. */
  key?: string;
  /** Milliseconds that one request may take; default 60,000. */
  timeout?: number;
  /** How often a request is repeated that was refused with 429 or 503 or got no answer; default 3. A repeated write
   * changes nothing twice. */
  retries?: number;
}

/** One server-sent event. */
export interface Event<Data = unknown> {
  name: string;
  data: Data;
  /** "" where it has none. */
  id: string;
}

/** A refused or failed request. */
export class EunoeError extends Error {
  /** The code of the wire contract, 0 where no answer came. */
  code: number;
  /** The field that is wrong, "" for none. */
  field: string;
  /** Seconds, 0 where unknown. */
  retryAfter: number;
}

/** A client of one bank. It is safe to use from several places at once. */
export class Eunoe {
  constructor(options?: Options);
  readonly url: string;
  readonly bank: string;
  /** Returns a client of another bank, with the same address and key. */
  of(bank: string): Eunoe;
  /** Publishes one message and returns its sequence, once it is on disk. */
  publish(session: string, message: Schema<"Message">): Promise<number>;
  /** Publishes up to 1,000 messages of a session, all or none, and returns their sequences. */
  publishAll(session: string, messages: Schema<"Message">[]): Promise<number[]>;
  /** Says that the conversation paused or ended, so that the rest of it is read. */
  flush(session: string): Promise<number>;
  /** Asks any endpoint of the contract. */
  request<E extends Endpoint>(endpoint: E, body?: Request<E>): Promise<Reply<E>>;
  /** Finds what is relevant to a query. With after it waits until it sees that message. */
  recall(query: string, options?: Omit<Request<"recall">, "query">): Promise<Reply<"recall">>;
  /** Answers a question from what is remembered, or packs the context for a model of your own. */
  reflect(query: string, options?: Omit<Request<"reflect">, "query">): Promise<Reply<"reflect">>;
  /** Answers piece by piece: delta, reset where the pieces so far are void, at last done with the whole reply. */
  reflectStream(query: string, options?: Omit<Request<"reflect">, "query">): AsyncGenerator<Event>;
  /** Stores facts by hand. */
  retain(facts: string | Schema<"FactInput"> | (string | Schema<"FactInput">)[], options?: Omit<Request<"retain">, "facts">): Promise<Reply<"retain">>;
  /** Erases a record, a session or a speaker, for good, and returns the receipt. One that is pending is accepted and
   * counts nothing yet. */
  forget(what: Request<"forget">): Promise<Reply<"forget">>;
  /** Waits until the forget with an op is applied, and returns its receipt. timeout is in milliseconds. */
  waitForgotten(op: string, timeout?: number): Promise<Reply<"forget">>;
  /** Shows what a curator of the memory looks at: snapshot(["conflicts", "entity:Alice"]). */
  snapshot(scopes?: string[], options?: Omit<Request<"snapshot">, "scopes">): Promise<Reply<"snapshot">>;
  /** Lists what was asked of the bank lately, what was found, and why, where its profile says keep_recalls. */
  recalls(limit?: number): Promise<Reply<"recalls">>;
  /** Makes several changes at once, all or none; with dry_run it says what they would do. */
  apply(changes: Schema<"Curation">[], options?: Omit<Request<"apply">, "changes">): Promise<Reply<"apply">>;
  /** Takes back the apply whose reply had this op. 409 where what it changed has changed since. */
  undo(op: string, options?: Omit<Request<"undo">, "apply">): Promise<Reply<"undo">>;
  /** Returns a record. */
  get(id: string): Promise<Reply<"get">>;
  /** Reports on the bank. */
  status(): Promise<Reply<"status">>;
  /** Waits until everything published is in the store. timeout is in milliseconds. */
  waitSettled(timeout?: number): Promise<Reply<"status">>;
  /** Follows the changes of the bank, from the next one on or after a number: each event's id is its number. It goes on
   * where it was when the connection is lost, until signal is aborted or the loop is left. */
  changes(options?: { after?: number; signal?: AbortSignal }): AsyncGenerator<Event<Schema<"Change">>>;
}
