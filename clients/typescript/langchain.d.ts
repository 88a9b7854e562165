import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import type { BaseMessage } from "@langchain/core/messages";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";

import type { Eunoe, Request } from "./index.js";

/** Finds what is relevant to a query, as documents: pageContent is the text, metadata the rest of the item. */
export class EunoeRetriever extends BaseRetriever {
  constructor(fields: BaseRetrieverInput & { client: Eunoe; options?: Omit<Request<"recall">, "query"> });
  lc_namespace: string[];
}

/** The messages of a session, oldest first. clear begins another session; the bank forgets nothing. */
export class EunoeChatMessageHistory extends BaseListChatMessageHistory {
  /** speaker is who the user is; default their role. */
  constructor(fields: { client: Eunoe; session: string; speaker?: string });
  lc_namespace: string[];
  readonly session: string;
  getMessages(): Promise<BaseMessage[]>;
  addMessage(message: BaseMessage): Promise<void>;
}
