"""Client of Eunoe, a long-term memory for chat bots and agents, over HTTP.

It needs the standard library alone. A client is safe to use from several threads; from asyncio, call it with
``asyncio.to_thread``. The requests and replies are those of the wire contract, as dictionaries.

    memory = eunoe.Client(bank="alice")
    seq = memory.publish("chat", "I am allergic to shellfish.", speaker="Alice")
    for item in memory.recall("What is Alice allergic to?", after=seq)["items"]:
        print(item["text"])
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

__all__ = ["Client", "Error", "Event"]

Json = Dict[str, Any]

#: Codes after which a request may be repeated: too many requests, and a part of Eunoe that is away.
_AGAIN = (429, 503)


class Error(Exception):
    """A refused or failed request.

    ``code`` is the code of the wire contract (400 invalid, 403 not allowed, 404 not found, 409 conflict, …), 0 where no
    answer came; ``field`` names the field that is wrong, "" for none; ``retry_after`` is in seconds, 0 where unknown.
    """

    def __init__(self, code: int, message: str, field: str = "", retry_after: float = 0) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.code, self.message, self.field, self.retry_after = code, message, field, retry_after


class Event:
    """One server-sent event: ``name``, ``data`` (decoded JSON) and ``id`` ("" where it has none)."""

    def __init__(self, name: str, data: Any, id: str = "") -> None:
        self.name, self.data, self.id = name, data, id

    def __repr__(self) -> str:
        return f"Event({self.name!r}, {self.data!r}, {self.id!r})"


class Client:
    """A client of one bank.

    url      where Eunoe answers HTTP; default ``EUNOE_HTTP_URL``, else http://127.0.0.1:8420
    bank     the memory to work with; default ``EUNOE_BANK``, else "default"
    key      the seed that ``eunoe auth`` made; default ``EUNOE_KEY``, else none
    timeout  seconds that one request may take
    retries  how often a request is repeated that was refused with 429 or 503 or got no answer; each write carries an
             idempotency key, so that repeating it changes nothing twice
    """

    def __init__(self, url: Optional[str] = None, bank: Optional[str] = None, key: Optional[str] = None, *,
                 timeout: float = 60, retries: int = 3) -> None:
        self.url = (url or os.environ.get("EUNOE_HTTP_URL") or "http://127.0.0.1:8420").rstrip("/")
        self.bank = bank or os.environ.get("EUNOE_BANK") or "default"
        self._key = key or os.environ.get("EUNOE_KEY") or ""
        self.timeout, self.retries = timeout, retries

    def of(self, bank: str) -> "Client":
        """Returns a client of another bank, with the same address and key."""
        return Client(self.url, bank, self._key, timeout=self.timeout, retries=self.retries)

    # What was said

    def publish(self, session: str, content: str, *, speaker: Optional[str] = None, role: Optional[str] = None, **fields: Any) -> int:
        """Publishes one message and returns its sequence, once it is on disk. fields are the others of a message, among
        them id, time (RFC 3339), topic and metadata."""
        message = _without_none({"content": content, "speaker": speaker, "role": role, **fields})
        return self.publish_all(session, [message])[0]

    def publish_all(self, session: str, messages: Sequence[Mapping[str, Any]]) -> List[int]:
        """Publishes up to 1,000 messages of a session, all or none, and returns their sequences."""
        reply = self._ask("POST", self._bank("sessions", session, "messages"), list(messages))
        return list(reply["seqs"])

    def flush(self, session: str) -> int:
        """Says that the conversation paused or ended, so that the rest of it is read; returns the sequence of that."""
        return int(self._ask("POST", self._bank("sessions", session, "flush"), {})["seq"])

    # What is asked

    def recall(self, query: str, **fields: Any) -> Json:
        """Finds what is relevant to a query. With after=seq it waits until it sees that message."""
        return self.request("recall", query=query, **fields)

    def reflect(self, query: str, **fields: Any) -> Json:
        """Answers a question from what is remembered, or packs the context for a model of your own."""
        return self.request("reflect", query=query, **fields)

    def reflect_stream(self, query: str, **fields: Any) -> Iterator[Event]:
        """Answers piece by piece: delta with a piece, reset where the pieces so far are void, at last done with the whole
        reply. Raises Error where the answer fails."""
        for event in self._stream("POST", self._bank("reflect"), {"query": query, "stream": True, **fields}):
            if event.name == "error":
                raise _error(event.data, 0)
            yield event

    def retain(self, *texts: str, **fields: Any) -> Json:
        """Stores facts by hand; facts= takes them with all their fields in place of texts."""
        if texts:
            fields["facts"] = [{"text": t} for t in texts] + list(fields.get("facts", ()))
        return self.request("retain", **fields)

    def forget(self, **fields: Any) -> Json:
        """Erases a record (id=), a session or a speaker (session=, speaker=), for good, and returns the receipt. One with
        "pending" is accepted and counts nothing yet: wait_forgotten(receipt["op"]) waits for it."""
        return self.request("forget", **fields)

    def wait_forgotten(self, op: str, timeout: float = 60) -> Json:
        """Waits until the forget with an op is applied, and returns its receipt. Raises TimeoutError."""
        end = time.monotonic() + timeout
        while True:
            wait = max(0.0, min(10.0, self.timeout / 2, end - time.monotonic()))
            receipt = self.request("forget", op=op, wait=f"{wait:.3f}s")
            if not receipt.get("pending"):
                return receipt
            if time.monotonic() > end:
                raise TimeoutError(f"the forget {op!r} was not applied in {timeout:g} s")

    def snapshot(self, *scopes: str, **fields: Any) -> Json:
        """Shows what a curator of the memory looks at: snapshot("conflicts", "entity:Alice")."""
        return self.request("snapshot", scopes=list(scopes) or None, **fields)

    def recalls(self, limit: Optional[int] = None) -> Json:
        """Lists what was asked of the bank lately, what was found, and why, where request("bank", keep_recalls=True) was set."""
        return self.request("recalls", limit=limit)

    def apply(self, *changes: Mapping[str, Any], **fields: Any) -> Json:
        """Makes several changes at once, all or none; with dry_run=True it says what they would do."""
        return self.request("apply", changes=list(changes), **fields)

    def undo(self, op: str, **fields: Any) -> Json:
        """Takes back the apply whose reply had this op. Raises Error 409 where what it changed has changed since."""
        return self.request("undo", apply=op, **fields)

    def get(self, id: str) -> Json:
        """Returns a record."""
        return self.request("get", id=id)

    def status(self) -> Json:
        """Reports on the bank."""
        return self.request("status")

    def wait_settled(self, timeout: float = 60) -> Json:
        """Waits until everything published is in the store, and returns the status. Raises TimeoutError."""
        end = time.monotonic() + timeout
        while True:
            status = self.status()
            if status.get("settled"):
                return status
            if time.monotonic() > end:
                raise TimeoutError(f"the bank {self.bank!r} did not settle in {timeout:g} s: {status.get('conservation')}")
            time.sleep(0.1)

    def request(self, endpoint: str, **fields: Any) -> Json:
        """Asks any endpoint of the contract: memory.request("conflicts", state="open")."""
        return self._ask("POST", self._bank(endpoint), _without_none(fields))

    def changes(self, after: int = 0) -> Iterator[Event]:
        """Follows the changes of the bank, from the next one on or after a number: each event's id is its number. When the
        connection is lost it goes on where it was, until the iterator is closed."""
        last = str(after) if after else ""
        path = self._bank("events")
        while True:
            try:
                for event in self._stream("GET", path, None, last):
                    last = event.id or last
                    yield event
            except Error as err:
                if err.code not in (0, *_AGAIN):
                    raise
                time.sleep(max(0.5, err.retry_after))

    # How it is sent

    def _bank(self, *parts: str) -> str:
        return "/v1/banks/" + "/".join(urllib.parse.quote(p, safe="") for p in (self.bank, *parts))

    def _open(self, method: str, path: str, body: Any, headers: Dict[str, str]) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Accept": "application/json", **headers})
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if self._key:
            request.add_header("Authorization", "Bearer " + self._key)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as err:
            with err:
                raise _error(_decode(err.read()), err.code, err.headers.get("Retry-After")) from None
        except (urllib.error.URLError, OSError) as err:
            raise Error(0, f"no answer from {self.url}: {getattr(err, 'reason', err)}") from None

    def _ask(self, method: str, path: str, body: Any) -> Json:
        op = body.get("op") if isinstance(body, dict) else None
        headers = {"Idempotency-Key": op or uuid.uuid4().hex}
        for attempt in range(self.retries + 1):
            try:
                with self._open(method, path, body, headers) as answer:
                    return _decode(answer.read())
            except Error as err:
                if err.code not in (0, *_AGAIN) or attempt == self.retries:
                    raise
                time.sleep(err.retry_after or 0.1 * 2**attempt)
            except OSError as err:
                if attempt == self.retries:
                    raise Error(0, f"the answer of {self.url} ended early: {err}") from None
        raise AssertionError("unreachable")

    def _stream(self, method: str, path: str, body: Any, last: str = "") -> Iterator[Event]:
        headers = {"Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        with self._open(method, path, body, headers) as answer:
            name, data, id = "message", [], ""
            try:
                for raw in answer:
                    line = raw.decode().rstrip("\r\n")
                    if not line:
                        if data:
                            yield Event(name, _decode("\n".join(data).encode()), id)
                        name, data, id = "message", [], ""
                        continue
                    field, _, value = line.partition(":")
                    value = value[1:] if value.startswith(" ") else value
                    if field == "event":
                        name = value
                    elif field == "data":
                        data.append(value)
                    elif field == "id":
                        id = value
            except OSError as err:
                raise Error(0, f"the stream of {self.url} was lost: {err}") from None


def _without_none(fields: Mapping[str, Any]) -> Json:
    return {k: v for k, v in fields.items() if v is not None}


def _decode(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else {}
    except ValueError:
        return {}


def _error(body: Any, status: int, after: Optional[str] = None) -> Error:
    fault = body.get("error", body) if isinstance(body, dict) else {}
    wait = float(after) if after and after.isdigit() else 0.0
    return Error(int(fault.get("code", status) or status), str(fault.get("message", f"status {status}")), str(fault.get("field", "")), wait)
