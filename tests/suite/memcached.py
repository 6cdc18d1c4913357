"""Real memcached servers for tests, and listeners that are none.

    with Memcached() as cache:
        site = server.Site(MEMCACHED_SERVERS=cache.address, ...)
        cache.freeze()
"""
import os
import random
import shutil
import signal
import socket
import tempfile
import threading
import time
import unittest
import urllib.parse

import server


def needed():
    if not server.have("memcached"):
        raise unittest.SkipTest("no memcached here")


class Memcached:
    """On a TCP port of this machine, or on a Unix socket; may be stopped and started again there.
    prefix: a command in front, such as `ip netns exec NAME`."""

    def __init__(self, *options, unix=False, host="127.0.0.1", prefix=(), start=True):
        needed()
        self.dir = tempfile.mkdtemp(prefix="tegula-memcached-")
        os.chmod(self.dir, 0o777)
        self.options, self.prefix, self.daemon = options, prefix, None
        self.seen = set()
        if unix:
            self.address = self.connect_to = os.path.join(self.dir, "socket")
            self.listen = ["-s", self.address, "-a", "0777"]
        else:
            port = server.free_port()
            self.address, self.connect_to = "%s:%d" % (host, port), (host, port)
            self.listen = ["-l", host, "-p", str(port), "-U", "0"]
        if start:
            self.start()

    def start(self):
        if isinstance(self.connect_to, str) and os.path.exists(self.connect_to):
            os.unlink(self.connect_to)
        argv = [*self.prefix, server.have("memcached"), "-u", "nobody", "-t", "1", *self.listen, *self.options]
        if os.geteuid() != 0:
            del argv[len(self.prefix) + 1:len(self.prefix) + 3]
        self.daemon = server.Daemon(argv, server.base_environment(), self.dir, os.path.join(self.dir, "log"),
                                    self.connect_to)

    def kill(self):
        self.thaw()
        self.daemon.stop_signal = signal.SIGKILL
        self.daemon.stop()

    def freeze(self):
        os.kill(self.daemon.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.daemon.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self):
        try:
            os.kill(self.daemon.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.daemon:
            self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)

    def ask(self, text, end=b"\r\n"):
        """The reply to a raw command, up to and with end."""
        with socket.socket(socket.AF_UNIX if isinstance(self.connect_to, str) else socket.AF_INET) as s:
            s.settimeout(10)
            s.connect(self.connect_to)
            s.sendall(text if isinstance(text, bytes) else text.encode())
            reply = b""
            while not reply.endswith(end):
                data = s.recv(65536)
                if not data:
                    break
                reply += data
            return reply

    def keys(self):
        """All keys but that of tegula's tokens. The dump leaves out what was read a moment ago, so keys that
        were in an earlier one and still have a value count as well."""
        lines = self.ask("lru_crawler metadump all\r\n", b"END\r\n").decode().split("\n")
        found = {urllib.parse.unquote(line.split()[0][4:]) for line in lines if line.startswith("key=")}
        found |= {key for key in self.seen - found if self.ask("mg %s\r\n" % key) == b"HD\r\n"}
        self.seen = found - {"tegula:tokens"}
        return sorted(self.seen)

    def pictures(self, at_least=0):
        """Keys of answers, without locks. at_least: waits for so many, since answers are stored when the
        client has them already."""
        end = time.monotonic() + 10
        while True:
            found = [key for key in self.keys() if self.value(key)]
            if len(found) >= at_least or time.monotonic() > end:
                return found
            time.sleep(0.01)

    def value(self, key):
        """None when there is none."""
        reply = self.ask("mg %s v\r\nmn\r\n" % key, b"MN\r\n")
        head, _, rest = reply.partition(b"\r\n")
        return rest[:int(head.split()[1])] if head.startswith(b"VA ") else None

    def set(self, key, value):
        reply = self.ask(b"ms %s %d T0\r\n%s\r\n" % (key.encode(), len(value), value))
        assert reply == b"HD\r\n", reply


class Listener:
    """Takes connections and hands each to talk(socket), in a thread of its own."""

    def __init__(self, talk):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.talk, self.open, self.accepted = talk, [], 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as memcached does
            self.accepted += 1
            self.open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            self.talk(connection)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.socket.close()
        for connection in self.open:
            connection.close()


class Between:
    """A listener in front of a real server, which passes on what is asked. damage(bytes) says what becomes
    of each piece of the answers, and whether the connection goes on then."""

    def __init__(self, real, damage):
        self.real, self.damage = real, damage
        self.listener = Listener(self._talk)
        self.address = self.listener.address

    def _talk(self, client):
        with socket.create_connection(self.real.connect_to) as behind:
            threading.Thread(target=self._ask, args=(client, behind), daemon=True).start()
            goes_on = True
            while goes_on:
                answer = behind.recv(1 << 20)
                damaged, goes_on = self.damage(answer) if answer else (b"", False)
                client.sendall(damaged)
            client.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _ask(client, behind):
        try:
            asked = client.recv(65536)
            while asked:
                behind.sendall(asked)
                asked = client.recv(65536)
            behind.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.__exit__()


GREETING = b"STAT item_size_max 1048576\r\nEND\r\n"


def silent(s):
    """Never says anything."""
    while s.recv(65536):
        pass


def answering(reply):
    """A talk that gives this reply to all it is sent, but greets as memcached does."""
    def talk(s):
        greeted = False
        while s.recv(65536):
            s.sendall(reply if greeted else GREETING)
            greeted = True
    return talk


def echo(s):
    while True:
        data = s.recv(65536)
        if not data:
            return
        s.sendall(data)


def noise(s):
    """Greets, then answers with bytes at random."""
    source = random.Random(1)
    s.recv(65536)
    s.sendall(GREETING)
    while s.recv(65536):
        s.sendall(source.randbytes(3000))


def dribble(s):
    """Begins a value, and sends one byte of it every few milliseconds, for ever."""
    s.recv(65536)
    s.sendall(GREETING)
    s.recv(65536)
    s.sendall(b"HD\r\nVA 32\r\n" + b"0" * 32 + b"\r\n")
    s.recv(65536)
    s.sendall(b"VA 1000000\r\n")
    pause = threading.Event()
    while True:
        s.sendall(b"x")
        pause.wait(0.005)


def flood(s):
    """Greets, then sends without end."""
    s.recv(65536)
    s.sendall(GREETING)
    while True:
        s.sendall(b"x" * 65536)
