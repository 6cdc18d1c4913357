"""A FastCGI client: what a web server sends to a responder, well-formed or deliberately not.

    reply = fcgi.get(("127.0.0.1", 9000), "/iiif/x.tif/info.json", HTTP_HOST="example.org")
    reply.status, reply.header("Content-Type"), reply.body

An address is (host, port) or the path of a Unix socket. Connection is for tests that keep one open,
cut requests short or send something else altogether.
"""
import socket
import struct

BEGIN_REQUEST, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, STDERR = 1, 2, 3, 4, 5, 6, 7
GET_VALUES, GET_VALUES_RESULT = 9, 10
RESPONDER = 1
KEEP_CONN = 1
MAX_CONTENT = 65535
REPLY_SECONDS = 60


class Closed(Exception):
    """The other side closed the connection before the end of the reply."""


class Reply:
    """What a responder answered, split as a web server would split it."""

    def __init__(self, stdout, stderr, app_status, protocol_status):
        self.stderr, self.app_status, self.protocol_status = stderr, app_status, protocol_status
        head, separator, self.body = stdout.partition(b"\r\n\r\n")
        if not separator:
            raise ValueError("no blank line behind the headers: %r" % stdout[:200])
        self.headers = []
        for line in head.decode("latin-1").split("\r\n"):
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise ValueError("not a header line: %r" % line)
            self.headers.append((name, value.strip()))
        self.status = int(self.header("Status", "200").split()[0])

    def header(self, name, default=None):
        values = self.all(name)
        if len(values) > 1:
            raise ValueError("%s is there %d times" % (name, len(values)))
        return values[0] if values else default

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]


def record(kind, content=b"", request_id=1, padding=0, version=1):
    return struct.pack(">BBHHBx", version, kind, request_id, len(content), padding) + content + bytes(padding)


def records(kind, content, request_id=1):
    """A whole stream: as many records as it needs, and the empty one that ends it."""
    parts = [content[i:i + MAX_CONTENT] for i in range(0, len(content), MAX_CONTENT)]
    return b"".join(record(kind, part, request_id) for part in parts + [b""])


def begin(request_id=1, role=RESPONDER, flags=0):
    return record(BEGIN_REQUEST, struct.pack(">HB5x", role, flags), request_id)


def pair(name, value):
    encoded = b""
    name, value = (x if isinstance(x, bytes) else x.encode("utf-8", "surrogateescape") for x in (name, value))
    for text in (name, value):
        encoded += struct.pack(">B", len(text)) if len(text) < 128 else struct.pack(">I", len(text) | 1 << 31)
    return encoded + name + value


def request(params, body=b"", keep=False, request_id=1):
    """All bytes of a request."""
    pairs = b"".join(pair(name, value) for name, value in params.items())
    return (begin(request_id, flags=KEEP_CONN if keep else 0) + records(PARAMS, pairs, request_id) +
            records(STDIN, body, request_id))


def params_of(uri, method="GET", body=b"", **more):
    """Parameters as nginx gives them."""
    params = {"REQUEST_METHOD": method, "REQUEST_URI": uri, "QUERY_STRING": uri.partition("?")[2],
              "SERVER_NAME": "localhost", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1",
              "GATEWAY_INTERFACE": "CGI/1.1", "REMOTE_ADDR": "127.0.0.1",
              "CONTENT_LENGTH": str(len(body)) if body else ""}
    params.update(more)
    return {name: value for name, value in params.items() if value is not None}


class Connection:
    def __init__(self, address, timeout=REPLY_SECONDS):
        self.socket = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def read(self, n):
        while len(self.pending) < n:
            data = self.socket.recv(65536)
            if not data:
                raise Closed("after %d of %d bytes" % (len(self.pending), n))
            self.pending += data
        taken, self.pending = self.pending[:n], self.pending[n:]
        return taken

    def read_record(self):
        """(kind, request id, content)."""
        version, kind, request_id, n, padding = struct.unpack(">BBHHBx", self.read(8))
        if version != 1:
            raise ValueError("a record of version %d" % version)
        content = self.read(n)
        self.read(padding)
        return kind, request_id, content

    def read_reply(self, request_id=1):
        streams, ended = {STDOUT: b"", STDERR: b""}, set()
        while True:
            kind, got_id, content = self.read_record()
            if got_id != request_id:
                raise ValueError("a record of request %d, expected %d" % (got_id, request_id))
            if kind == END_REQUEST:
                app_status, protocol_status = struct.unpack(">IB3x", content)
                return Reply(streams[STDOUT], streams[STDERR], app_status, protocol_status)
            if kind not in streams or kind in ended:
                raise ValueError("a record of type %d is not expected here" % kind)
            streams[kind] += content
            if not content:
                ended.add(kind)

    def ask(self, params, body=b"", keep=True, request_id=1):
        self.send(request(params, body, keep, request_id))
        return self.read_reply(request_id)

    def closed_by_peer(self, seconds):
        """Whether the other side closes within that time; anything it sends meanwhile is dropped."""
        self.socket.settimeout(seconds)
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionError:
            return True
        except socket.timeout:
            return False


def ask(address, params, body=b"", timeout=REPLY_SECONDS):
    """One request on a connection of its own, which the responder has to close."""
    with Connection(address, timeout) as connection:
        reply = connection.ask(params, body, keep=False)
        if connection.pending or connection.socket.recv(1):
            raise ValueError("bytes behind the end of the request")
        return reply


def get(address, uri, method="GET", body=b"", timeout=REPLY_SECONDS, **more):
    return ask(address, params_of(uri, method, body, **more), body, timeout)
