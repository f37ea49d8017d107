#!/usr/bin/env python3
"""A proxy before a server, which answers like a later version of it: with members, events, lines of
a stream, values of enums and a card that no client of today knows.

usage: later.py URL    (prints the URL of the proxy)
"""

import http.client
import http.server
import json
import sys

UPSTREAM = sys.argv[1].removeprefix("http://")
KNOWN, LATER = "5", "Z"  # a card, and its later name
EVENT = {"type": "later_event", "seat": 0}
ACTION = {"route": "later", "method": "POST", "path": "/later", "seat": 0}
VALUES = {"reshuffle", "level", "by", "code", "join"}  # members with an enum


def later(value, name=None):
    """An answer as a later server would send it; `name` is that of the member."""
    if isinstance(value, list):
        made = [later(entry, name) for entry in value]
        if name in ("hand", "hands", "cards") and KNOWN in made:
            made[made.index(KNOWN)] = LATER
        added = {"events": EVENT, "actions": ACTION, "choices": "later"}.get(name)
        return [added, *made] if added and made else made
    if not isinstance(value, dict):
        if name in VALUES and isinstance(value, str) or (name, value) == ("kind", "advance"):
            return "later"
        return LATER if (name, value) == ("card", KNOWN) else value
    if name in ("discards", "played"):
        return value | {LATER: 1}
    if name == "last_action":
        return EVENT
    if name == "places":
        return value
    return {key: later(entry, key) for key, entry in value.items()} | {"later": {"than": [1]}}


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if body and (sent := json.loads(body)):
            sent.pop("later", None)
            body = json.dumps(sent | ({"card": KNOWN} if sent.get("card") == LATER else {})).encode()
        own = ("host", "connection", "accept-encoding", "content-length", "transfer-encoding")
        headers = {name: text for name, text in self.headers.items() if name.lower() not in own}
        upstream = http.client.HTTPConnection(UPSTREAM)
        upstream.request(self.command, self.path, body or None, headers)
        answer = upstream.getresponse()
        self.send_response(answer.status)
        for name, text in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, text)
        kind = answer.getheader("Content-Type", "")
        if kind == "application/x-ndjson":
            self.close_connection = True
            self.send_header("Connection", "close")
            self.end_headers()
            for line in answer:
                if line.strip():
                    line = b'{"type":"later"}\n' + json.dumps(later(json.loads(line))).encode() + b"\n"
                self.wfile.write(line)
            return
        sent = answer.read()
        if kind == "application/json":
            sent = json.dumps(later(json.loads(sent))).encode()
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *arguments):
        pass  # a client has gone


server = Server(("127.0.0.1", 0), Proxy)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
