"""The smallest bot with a memory, in Python: pip install nats-py, run `eunoe up`, type lines.

It recalls before it answers, and marks what it repeats from memory with
"recalled": true, so that nothing is learnt twice from its own words.
"""
import asyncio
import json
import os
import sys

import nats
from nats.errors import NoRespondersError

BANK, SESSION = "chatbot", "terminal"


async def ask(nc, what, **body):
    """One request; a failure is the service's own words."""
    try:
        reply = await nc.request(f"mem.{BANK}.{what}", json.dumps(body).encode(), timeout=5)
    except NoRespondersError:
        sys.exit("nobody answers: start everything with `eunoe up`")
    headers = reply.headers or {}
    if "Nats-Service-Error-Code" in headers:
        if headers["Nats-Service-Error-Code"] == "404":  # nothing was ever said to it
            return {"items": []}
        sys.exit(headers.get("Nats-Service-Error"))
    return json.loads(reply.data)


async def main():
    nc = await nats.connect(os.environ.get("EUNOE_URL", "nats://127.0.0.1:4222"))
    say = nc.jetstream()
    lines = asyncio.get_running_loop()
    while line := (await lines.run_in_executor(None, sys.stdin.readline)).strip():
        found = (await ask(nc, "recall", query=line))["items"]
        if found:  # here a bot would ask its model, with the items in the prompt
            answer = {"role": "assistant", "content": "I remember: " + found[0]["text"], "recalled": True}
        else:
            answer = {"role": "assistant", "content": "I see. Tell me more."}
        print(answer["content"])
        for message in ({"speaker": "Ana", "content": line}, answer):
            await say.publish(f"mem.{BANK}.message.{SESSION}", json.dumps(message).encode())
    await say.publish(f"mem.{BANK}.flush.{SESSION}", b"{}")  # the conversation ends here
    await nc.drain()


if __name__ == "__main__":
    asyncio.run(main())
