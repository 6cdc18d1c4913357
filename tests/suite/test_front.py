"""What a web server and the workers behind it do together, when all goes well and when it does not."""
import http.client
import os
import signal
import socket
import threading
import time
import unittest

import fcgi
import fixture
import server

V3 = "/iiif/3/"


def site(**settings):
    return server.shared(fixture.root(), workers=2, CORS="*", **settings)


def name():
    return fixture.ramp_jpeg_pyramid(1024, 768)


def healthy():
    reply = site().get(V3 + name() + "/info.json")
    assert reply.status == 200, reply


def until(seconds, condition, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not within %d s: %s" % (seconds, what)
        time.sleep(0.05)


def test_raw_uri_reaches_tegula():
    """%2F, %20, a plus and doubled slashes are as the client wrote them."""
    fixture.once("front/a+b c.tif", lambda p: os.link(os.path.join(fixture.root(), name()), p))
    for identifier in ("front%2Fa+b%20c.tif", "front%2fa%2Bb%20c%2Etif", "front/a+b%20c.tif", "front%2F%2Fa+b%20c.tif"):
        reply = site().get(V3 + identifier + "/info.json")
        assert reply.status == 200, (identifier, reply)
        assert reply.json()["id"] == site().base + V3 + identifier


def test_many_clients_at_once():
    """Twenty clients for each worker: images, or a 503 that says when to come again; no broken connection."""
    paths = [V3 + name() + "/%d,%d,256,256/256,256/0/default.jpg" % (x, y)
             for x in range(0, 1024, 256) for y in range(0, 768, 256)] + [V3 + name() + "/full/333,/0/default.png"]
    wrong = []

    def client(n):
        for k in range(10):
            try:
                reply = site().get(paths[(n + k) % len(paths)])
                if reply.status == 503 and reply.header("Retry-After"):
                    continue
                if reply.status != 200 or not reply.body:
                    wrong.append("%d %r" % (reply.status, reply.body[:80]))
            except Exception as error:
                wrong.append(repr(error))

    threads = [threading.Thread(target=client, args=(n,)) for n in range(40)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, "%d wrong, such as %s" % (len(wrong), wrong[0])
    healthy()


def test_a_killed_worker_costs_nothing_more():
    """The next requests are answered by the others, and a new one takes its place. mod_fcgid may learn of the
    death by a request that it has given to the dead."""
    lost = [500] if site().front == "apache-fcgid" else []
    healthy()
    before = site().worker_pids()
    assert before
    os.kill(before[0], signal.SIGKILL)
    for _ in range(10):
        reply = site().get(V3 + name() + "/full/100,/0/default.jpg")
        if reply.status in lost:
            lost.remove(reply.status)
        else:
            assert reply.status in (200, 503), reply
        time.sleep(0.05)
    until(10, lambda: site().get(V3 + name() + "/full/100,/0/default.jpg").status == 200, "an image")
    if site().front != "apache-fcgid":  # which starts processes when there is work for them
        until(10, lambda: len(site().worker_pids()) == len(before), "as many workers as before")
    assert before[0] not in site().worker_pids()


def test_a_client_that_leaves_stops_no_worker():
    healthy()
    before = site().worker_pids()
    big = fixture.ramp_pyramid(9000, 6000)
    for _ in range(6):
        with socket.create_connection(("127.0.0.1", site().port), 5) as s:
            if site().front == "direct":
                s.sendall(fcgi.request(fcgi.params_of(V3 + big + "/full/max/0/default.png")))
            else:
                s.sendall(("GET %s%s/full/max/0/default.png HTTP/1.1\r\nHost: x\r\n\r\n" % (V3, big)).encode())
            time.sleep(0.1)
    for _ in range(4):
        healthy()
    assert set(before) <= set(site().worker_pids()), "%r became %r" % (before, site().worker_pids())


def test_a_slow_client_does_not_hold_a_worker():
    """The web server takes the answer off the worker's hands."""
    if site().front == "direct":
        raise unittest.SkipTest("without a web server there is nothing to take it")
    big = fixture.ramp_pyramid(9000, 6000)
    slow = []
    try:
        for _ in range(4):  # twice as many as workers
            s = socket.create_connection(("127.0.0.1", site().port), 5)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(("GET %s%s/full/2000,/0/default.png HTTP/1.1\r\nHost: x\r\n\r\n" % (V3, big)).encode())
            slow.append(s)
        time.sleep(2)
        begin = time.monotonic()
        healthy()
        assert time.monotonic() - begin < 5
    finally:
        for s in slow:
            s.close()


def test_head_keeps_the_connection_usable():
    """Several requests on one connection, HEAD among them."""
    if site().front == "direct":
        raise unittest.SkipTest("HTTP only")
    connection = http.client.HTTPConnection("127.0.0.1", site().port, timeout=20)
    for method in ("HEAD", "GET", "HEAD", "OPTIONS", "GET"):
        connection.request(method, V3 + name() + "/full/100,/0/default.jpg")
        reply = connection.getresponse()
        body = reply.read()
        assert reply.status == (204 if method == "OPTIONS" else 200)
        assert bool(body) == (method == "GET")
    connection.close()


def test_no_header_is_sent_twice():
    for path in ("/info.json", "/full/100,/0/default.jpg", "", "/full/0,/0/default.jpg"):
        reply = site().get(V3 + name() + path)
        names = [key.lower() for key, _ in reply.headers]
        assert len(names) == len(set(names)), reply.headers


def test_no_worker_at_all():
    """503 with Retry-After rather than a bare 502."""
    if site().front not in ("nginx-tcp", "nginx-unix", "apache-proxy"):
        raise unittest.SkipTest("here the web server starts the workers, or there is none")
    with server.Site(images=fixture.root()) as on:
        assert on.get(V3 + name() + "/info.json").status == 200
        on.tegula.stop()
        on.daemons.remove(on.tegula)
        for rest in ("/info.json", "/full/100,/0/default.png", "/full/100,/0/default.jpg"):
            reply = on.get(V3 + name() + rest)
            assert reply.status == 503 and reply.header("Retry-After"), reply
            # The text is none of what the path ends in.
            assert reply.type() in ("text/plain", "text/html"), (rest, reply)
