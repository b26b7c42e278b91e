"""A load balancer that obeys `/readyz`, as a proxy in front of several collectors does."""

import http.client
import itertools
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def asked(port, method, path, body=None, headers=None):
    """Status and body of one request to a collector of this machine; 502 if it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 502, b""
    finally:
        connection.close()


class Balancer:
    """Forwards uploads to ready collectors in turn, and answers 503 while none is ready."""

    def __init__(self, ports, every=0.25):
        self.ready, self._ports, self._every = set(), tuple(ports), every
        self._turn = itertools.count()
        self._going = True
        balancer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                status, answer = balancer._forward(self.path, body)
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._threads = [
            threading.Thread(target=self._server.serve_forever),
            threading.Thread(target=self._watch),
        ]
        for thread in self._threads:
            thread.start()

    def wait(self, count, seconds):
        """Wait until `count` collectors are ready; returns the seconds that it took."""
        begun = time.monotonic()
        while len(self.ready) != count:
            assert time.monotonic() < begun + seconds, f"{len(self.ready)} are ready"
            time.sleep(0.05)
        return time.monotonic() - begun

    def close(self):
        self._going = False
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join()

    def _watch(self):
        while self._going:
            for port in self._ports:
                is_ready = asked(port, "GET", "/readyz")[0] == 200
                (self.ready.add if is_ready else self.ready.discard)(port)
            time.sleep(self._every)

    def _forward(self, path, body):
        ports = sorted(self.ready)
        if not ports:
            return 503, b"{}"
        port = ports[next(self._turn) % len(ports)]
        status, answer = asked(port, "POST", path, body, {"content-type": "application/json"})
        return (503, b"{}") if status == 502 else (status, answer)
