"""Tests against a running Eunoe, whose address is EUNOE_HTTP_URL: python3 -m unittest discover clients/python/tests"""

import http.server
import json
import os
import sys
import threading
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import eunoe  # noqa: E402


def fresh(**options):
    """Returns a client of a bank that nobody has used."""
    return eunoe.Client(bank="py " + uuid.uuid4().hex + "/ü", **options)


class TestMemory(unittest.TestCase):
    def test_what_was_published_is_found_with_its_source(self):
        memory = fresh()
        seq = memory.publish("chat", "I keep my bicycle in the shed.", speaker="Ivo", id="m1", topic=None)
        found = memory.recall("Where is the bicycle?", after=seq)["items"]
        self.assertIn("m1", found[0]["sources"])
        memory.flush("chat")
        self.assertEqual(memory.wait_settled()["conservation"]["committed"], 1)

    def test_a_batch_is_published_in_order_or_not_at_all(self):
        memory = fresh()
        seqs = memory.publish_all("s", [{"content": f"Shelf {n} holds jars.", "speaker": "Ivo"} for n in range(20)])
        self.assertEqual(seqs, sorted(seqs))
        self.assertEqual(len(set(seqs)), 20)
        with self.assertRaises(eunoe.Error) as raised:
            memory.publish_all("s", [{"content": "fine"}, {"content": "x", "role": "king"}])
        self.assertEqual((raised.exception.code, raised.exception.field), (400, "1.role"))
        memory.flush("s")
        self.assertEqual(memory.wait_settled()["conservation"]["published"], 20)

    def test_what_was_forgotten_is_not_found(self):
        memory = fresh()
        fact = memory.retain("Ivo plays the tuba.", "Ivo lives in Bern.")["results"][0]["id"]
        self.assertEqual(memory.get(fact)["text"], "Ivo plays the tuba.")
        receipt = memory.forget(id=fact)
        self.assertEqual(memory.wait_forgotten(receipt["op"])["facts"], 1)
        with self.assertRaises(eunoe.Error) as raised:
            memory.get(fact)
        self.assertEqual(raised.exception.code, 404)
        self.assertEqual([i["text"] for i in memory.recall("Ivo")["items"]], ["Ivo lives in Bern."])

    def test_changes_are_applied_shown_and_taken_back(self):
        memory = fresh()
        ids = [r["id"] for r in memory.retain("Ivo plays the tuba.", "Ivo owns a tuba.")["results"]]
        applied = memory.apply({"op": "merge", "ids": ids})
        self.assertEqual(len(memory.snapshot("recent:5", max_tokens=500)["parts"][0]["items"]), 1)
        memory.undo(applied["op"])
        self.assertEqual(len(memory.snapshot("recent:5")["parts"][0]["items"]), 2)
        with self.assertRaises(eunoe.Error) as raised:
            memory.undo(applied["op"])
        self.assertEqual((raised.exception.code, raised.exception.field), (409, "apply"))

    def test_banks_are_apart(self):
        one, other = fresh(), fresh()
        one.retain("The password of the club is swordfish.")
        other.retain("The club meets on Mondays.")
        self.assertNotIn("swordfish", json.dumps(other.recall("password of the club")))
        self.assertIn("club", json.dumps(one.of(other.bank).recall("When does the club meet?")))


class TestStreams(unittest.TestCase):
    def test_changes_are_followed_and_resumed(self):
        memory = fresh()
        memory.retain("Ivo has a kayak.")
        first = self.fact_after(memory, memory.request("changes")["items"][-1]["seq"], "Ivo has a tent.")
        later = self.fact_after(memory, int(first.id), "Ivo has a stove.")
        self.assertGreater(int(later.id), int(first.id))

    def fact_after(self, memory, last, text):
        """Makes a fact, and returns its change among those after a number."""
        fact = memory.retain(text)["results"][0]["id"]
        changes = memory.changes(after=last)
        try:
            return next(c for c in changes if c.name == "fact" and c.data["record"] == fact)
        finally:
            changes.close()

    def test_an_answer_ends_with_the_whole_reply(self):
        memory = fresh()
        memory.retain("Ivo is allergic to pollen.")
        events = list(memory.reflect_stream("What is Ivo allergic to?"))
        self.assertEqual(events[-1].name, "done")
        self.assertIn("pollen", json.dumps(events[-1].data))


class TestErrors(unittest.TestCase):
    def test_a_refusal_says_code_field_and_what_was_expected(self):
        memory = fresh()
        for fields, field in (({"query": ""}, "query"), ({"query": "x", "limits": 3}, "limits")):
            with self.assertRaises(eunoe.Error) as raised:
                memory.request("recall", **fields)
            self.assertEqual((raised.exception.code, raised.exception.field), (400, field))
        with self.assertRaises(eunoe.Error) as raised:
            memory.request("remember", text="x")
        self.assertEqual(raised.exception.code, 404)

    def test_nobody_answers(self):
        with self.assertRaises(eunoe.Error) as raised:
            fresh(url="http://127.0.0.1:9", retries=1).status()
        self.assertEqual(raised.exception.code, 0)
        self.assertIn("127.0.0.1:9", str(raised.exception))

    def test_a_request_that_was_refused_for_now_is_repeated_with_its_key(self):
        keys = []

        class Busy(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                keys.append(self.headers["Idempotency-Key"])
                if len(keys) < 3:
                    self.send_response(429)
                    self.send_header("Retry-After", "0")
                    body = b'{"error":{"code":429,"message":"later"}}'
                else:
                    self.send_response(200)
                    body = b'{"seq":7,"seqs":[7]}'
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Busy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            memory = eunoe.Client(f"http://127.0.0.1:{server.server_port}", "b")
            self.assertEqual(memory.publish("s", "hello"), 7)
        finally:
            server.shutdown()
            server.server_close()
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)


if __name__ == "__main__":
    unittest.main()
