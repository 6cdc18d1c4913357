"""The process: command line, sockets, workers, signals, and peers that do not behave. Always over
FastCGI, without a web server."""
import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import fcgi
import fixture
import server

HOME = "/"
INFO = "/iiif/3/ramp-1037x779.tif/info.json"


@contextlib.contextmanager
def directory():
    with tempfile.TemporaryDirectory(prefix="tegula-process-") as path:
        yield path


def tegula(*arguments, stdin=subprocess.DEVNULL, **settings):
    """Runs it to its end: (exit status, standard output, standard error)."""
    env = server.base_environment()
    env.update({"FILESYSTEM_PREFIX": "/srv/"}, **settings)
    env = {name: value for name, value in env.items() if value is not None}
    done = subprocess.run([server.TEGULA, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=20)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextlib.contextmanager
def running(*arguments, address, stdin=subprocess.DEVNULL, **settings):
    """A tegula with options of its own choice, ready to serve."""
    with directory() as cwd:
        env = server.base_environment()
        env.update({"FILESYSTEM_PREFIX": os.path.join(images(), ""), "VERBOSITY": "2",
                    "LOGFILE": os.path.join(cwd, "log")}, **settings)
        process = subprocess.Popen([server.TEGULA, *arguments], stdin=stdin, env=env, start_new_session=True)
        try:
            wait_until(lambda: process.poll() is not None or server.connects(address), "it started")
            assert process.poll() is None, "exit status %d" % process.returncode
            workers = int(arguments[arguments.index("--workers") + 1]) if "--workers" in arguments else 0
            wait_until(lambda: len(server.children(process.pid)) >= workers, "all workers")
            process.log = env["LOGFILE"]
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def images():
    fixture.ramp_pyramid(1037, 779)
    return fixture.root()


def one_site(workers=1, **settings):
    return server.Site("direct", images(), workers=workers, **settings)


def wait_until(condition, what, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not within %g s: %s" % (seconds, what)
        time.sleep(0.01)


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def read(path):
    with open(path, errors="replace") as f:
        return f.read()


def check_serves(address):
    reply = fcgi.get(address, INFO)
    assert reply.status == 200 and reply.body.startswith(b"{"), reply.status


def large_reply(address):
    """A connection whose reply is far larger than the socket takes, of which nothing is read yet: the
    worker has the request in hand until somebody reads."""
    connection = fcgi.Connection(address)
    connection.send(fcgi.request(fcgi.params_of("/iiif/3/noise.tif/full/max/0/default.png")))
    assert connection.socket.recv(1, socket.MSG_PEEK)
    return connection


@contextlib.contextmanager
def unix_site(*arguments, **settings):
    """(process, address): Unix sockets hold little, so that large_reply works."""
    import numpy
    fixture.pyramid("noise.tif", lambda: numpy.random.default_rng(1).integers(0, 256, (900, 1200, 3), numpy.uint8))
    with directory() as d:
        address = os.path.join(d, "socket")
        with running("--bind", address, *arguments, address=address, **settings) as process:
            yield process, address


def test_bad_options_are_one_line_and_status_2():
    for arguments in (["--bind"], ["--bind="], ["--backlog", "0"], ["--backlog=65536"], ["--backlog", "x"],
                      ["--workers", "0"], ["--workers=-1"], ["--workers", "1025"], ["--workers", "2x"],
                      ["--socket-mode", "9"], ["--socket-mode=01777"], ["--socket-mode", ""], ["--nonsense"],
                      ["-b", "x"], ["x"], ["--bind", "/nowhere/x", "y"], ["--explain"]):
        status, out, err = tegula(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1), (arguments, status, out, err)


def test_help_and_version():
    status, out, err = tegula("--help")
    assert status == 0 and "--bind" in out and not err
    status, out, err = tegula("--version")
    assert status == 0 and out.startswith("tegula ") and out.count("\n") == 1 and not err


def test_formats_are_listed():
    status, out, err = tegula("--formats")
    read, sent = out.split("Sent:\n")
    assert status == 0 and not err
    for name in ("TIFF", "JPEG", "JPEG 2000", "PNG", "WebP"):
        assert "\n  %-10s " % name in read, name
    for extension, kind in (("jpg", "image/jpeg"), ("png", "image/png"), ("webp", "image/webp"), ("tif", "image/tiff")):
        assert "  %-10s %s\n" % (extension, kind) in sent, extension


def test_started_by_hand_without_a_socket():
    for prefix in ("/srv/", None):
        status, out, err = tegula(FILESYSTEM_PREFIX=prefix)
        assert status == 1 and not out and err.count("\n") == 1 and "--bind" in err, (status, err)


def test_addresses_that_cannot_be_had():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for address in ("127.0.0.1:%d" % port, "192.0.2.1:9000", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:",
                        "127.0.0.1:x", "127.0.0.1", "localhost", "::1:9000", "/nowhere/at/all", "/" + "x" * 110):
            status, _, err = tegula("--bind", address)
            assert status == 1 and address in err.splitlines()[-1], (address, status, err)


def test_check_config():
    status, out, err = tegula("--check-config")
    assert status == 0 and not err and "JPEG_QUALITY = 75   (default)" in out, (status, err)
    status, out, err = tegula("--check-config", JPEG_QUALITY="500", CORS="*")
    assert status == 1 and err.startswith("JPEG_QUALITY=500: ") and err.count("\n") == 1, err
    assert "JPEG_QUALITY = 100   (corrected)" in out and "CORS = *   (environment)" in out
    status, _, err = tegula("--check-config", FILESYSTEM_PREFIX=None)
    assert status == 1 and "FILESYSTEM_PREFIX is empty" in err


def test_bad_settings_are_logged_before_the_socket_is_bound():
    with directory() as d:
        address = os.path.join(d, "s")
        with running("--bind", address, address=address, JPEG_QUALTIY="3", MAX_CVT="x") as process:
            lines = read(process.log).splitlines()
            bad = [i for i, line in enumerate(lines) if "MAX_CVT=x" in line or "JPEG_QUALTIY" in line]
            started = [i for i, line in enumerate(lines) if "started on" in line]
            assert len(bad) == 2 and len(started) == 1 and max(bad) < started[0], lines
            check_serves(address)


def test_options_in_any_order():
    for arguments in (["--backlog=5", "--workers", "2", "--bind=127.0.0.1:%d"], ["--bind", ":%d"], ["--bind", "*:%d"]):
        port = server.free_port()  # killed workers may still hold the one before
        *others, bind = arguments
        with running(*others, bind % port, address=("127.0.0.1", port)):
            check_serves(("127.0.0.1", port))


def test_ipv6():
    port = server.free_port()
    probe = socket.socket(socket.AF_INET6)
    try:
        probe.bind(("::1", 0))
    except OSError:
        raise unittest.SkipTest("no IPv6 here")
    finally:
        probe.close()
    for bind in ("[::1]:%d" % port, "[::]:%d" % port):
        with directory() as d, open(os.path.join(d, "err"), "w") as err:
            env = dict(server.base_environment(), FILESYSTEM_PREFIX=os.path.join(images(), ""))
            process = subprocess.Popen([server.TEGULA, "--bind", bind], stdin=subprocess.DEVNULL, stderr=err, env=env)
            try:
                wait_until(lambda: not socket.socket(socket.AF_INET6).connect_ex(("::1", port)), bind)
            finally:
                process.terminate()
                assert process.wait() == 0


def test_unix_socket_file():
    with directory() as d:
        address = os.path.join(d, "s")
        with running("--bind", address, "--socket-mode", "0600", address=address) as process:
            assert os.stat(address).st_mode & 0o777 == 0o600
            status, _, err = tegula("--bind", address)
            assert status == 1 and "another process listens" in err, err
            check_serves(address)
            process.kill()
            process.wait()
        assert os.path.exists(address)  # left behind by the kill, and stale
        with running("--bind", address, address=address) as process:
            assert os.stat(address).st_mode & 0o777 == 0o660
            check_serves(address)
            process.terminate()
            assert process.wait(10) == 0
        assert not os.path.exists(address)
        with open(address, "w") as f:
            f.write("precious")
        status, _, err = tegula("--bind", address)
        assert status == 1 and "is no socket" in err, err
        assert read(address) == "precious"


def test_socket_file_of_a_successor_stays():
    with directory() as d:
        address = os.path.join(d, "s")
        with running("--bind", address, address=address) as old:
            os.unlink(address)
            with running("--bind", address, address=address):
                old.terminate()
                assert old.wait(10) == 0
                check_serves(address)


def test_socket_as_descriptor_0():
    with directory() as d:
        for family, name in ((socket.AF_UNIX, os.path.join(d, "s")), (socket.AF_INET, ("127.0.0.1", 0))):
            for arguments in ([], ["--workers", "2"]):
                with socket.socket(family) as listener:
                    listener.bind(name)
                    listener.listen(16)
                    address = listener.getsockname()
                    with running(*arguments, address=address, stdin=listener.fileno()) as process:
                        check_serves(address)
                        process.terminate()
                        assert process.wait(10) == 0
                if family == socket.AF_UNIX:
                    os.unlink(name)


def test_a_killed_worker_is_replaced():
    with one_site(workers=2) as site:
        before = site.worker_pids()
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        check_serves(site.address)
        wait_until(lambda: len(site.worker_pids()) == 2 and before[0] not in site.worker_pids(), "a new worker")
        assert before[1] in site.worker_pids()
        assert "worker %d ended by signal 9" % before[0] in site.log_text()
        check_serves(site.address)


def test_workers_that_die_young_come_back_ever_later():
    with one_site() as site:
        pauses = []
        for _ in range(4):
            pid, = site.worker_pids()
            os.kill(pid, signal.SIGKILL)
            start = time.monotonic()
            wait_until(lambda: pid not in site.worker_pids() and site.worker_pids(), "a new worker")
            pauses.append(time.monotonic() - start)
        for pause, expected in zip(pauses, (0.1, 0.2, 0.4, 0.8)):
            assert expected <= pause < expected + 0.5 * server.patience(), pauses


def test_no_zombies_no_leftovers():
    with one_site(workers=3) as site:
        killed = site.worker_pids()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: len(site.worker_pids()) == 3 and not set(killed) & set(site.worker_pids()), "new workers")
        pids = server.children(site.tegula.pid)
        assert len(pids) == 3 and all(is_alive(pid) for pid in pids), pids
        os.kill(site.tegula.pid, signal.SIGTERM)
        assert site.tegula.process.wait(10) == 0
        assert not any(is_alive(pid) for pid in pids)


def test_the_request_in_hand_is_finished():
    for arguments in ([], ["--workers", "1"]):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with unix_site(*arguments) as (process, address):
                with large_reply(address) as connection:
                    process.send_signal(number)
                    time.sleep(0.3)
                    assert process.poll() is None, "it did not wait"
                    reply = connection.read_reply()
                    assert reply.status == 200 and len(reply.body) == int(reply.header("Content-Length")) > 1 << 20
                assert process.wait(10) == 0
                assert not os.path.exists(address)


def test_a_signal_while_idle_ends_at_once():
    for arguments in ([], ["--workers", "2"]):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with unix_site(*arguments) as (process, address):
                with fcgi.Connection(address) as connection:  # a kept one does not hold it either
                    connection.ask(fcgi.params_of(HOME))
                    start = time.monotonic()
                    process.send_signal(number)
                    assert process.wait(10) == 0
                    assert time.monotonic() - start < 1 * server.patience()


def test_workers_end_with_their_supervisor():
    with unix_site("--workers", "2") as (process, address):
        workers = server.children(process.pid)
        with large_reply(address) as connection:
            process.kill()
            process.wait()
            reply = connection.read_reply()
            assert reply.status == 200 and len(reply.body) == int(reply.header("Content-Length"))
        wait_until(lambda: not any(is_alive(pid) for pid in workers), "all workers gone")


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def test_hangup_reopens_the_log_and_drops_caches():
    for arguments in ([], ["--workers", "1"]):
        with unix_site(*arguments) as (process, address):
            assert fcgi.get(address, HOME).status == 200  # the worker has begun
            worker = (server.children(process.pid) or [process.pid])[0]
            empty = descriptors(worker)
            check_serves(address)
            assert descriptors(worker) == empty + 1  # the image stays open
            os.rename(process.log, process.log + ".1")
            process.send_signal(signal.SIGHUP)
            wait_until(lambda: descriptors(worker) == empty, "the image closed")
            wait_until(lambda: os.path.exists(process.log), "a new log")
            check_serves(address)
            wait_until(lambda: INFO in read(process.log), "the request in the new log")
            assert is_alive(worker) and process.poll() is None


def test_many_hangups_during_load():
    with one_site(workers=2) as site:
        workers = site.worker_pids()
        for _ in range(50):
            os.kill(site.tegula.pid, signal.SIGHUP)
            check_serves(site.address)
        assert site.worker_pids() == workers


def test_peers_that_do_not_speak_fastcgi():
    hostile = [b"GET / HTTP/1.0\r\n\r\n"] * 20 + [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"\r\n" * 10, bytes(100000), b"\xff" * 8,
        fcgi.record(fcgi.BEGIN_REQUEST, b"", 0), fcgi.record(fcgi.BEGIN_REQUEST, b"abc"), fcgi.begin(role=7),
        fcgi.begin() + fcgi.record(fcgi.STDIN, b"x"), fcgi.begin() + fcgi.record(fcgi.ABORT_REQUEST),
        fcgi.begin() + fcgi.record(fcgi.PARAMS, b"\xff\xff\xff\xff\xff\xff\xff\xff") + fcgi.record(fcgi.PARAMS),
        fcgi.begin() + fcgi.record(fcgi.PARAMS, b"\x7f\x7fabc") + fcgi.record(fcgi.PARAMS)]
    with one_site() as site:
        for data in hostile:
            with fcgi.Connection(site.address) as connection:
                with contextlib.suppress(ConnectionError):
                    connection.send(data)
                assert connection.closed_by_peer(1), data[:40]
            check_serves(site.address)
        assert len(site.worker_pids()) == 1 and "ended" not in site.log_text()


def test_peers_that_stall():
    request = fcgi.request(fcgi.params_of(INFO))
    with one_site() as site:
        for data in (b"", request[:1], request[:8], request[:20], request[:-9]):
            with fcgi.Connection(site.address) as connection:
                connection.send(data)
                assert connection.closed_by_peer(1.5), len(data)
            check_serves(site.address)


def test_a_peer_that_dribbles():
    with one_site() as site, fcgi.Connection(site.address) as connection:
        start = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for byte in fcgi.request(fcgi.params_of(INFO)):
                connection.send(bytes([byte]))
                time.sleep(0.05)
        assert time.monotonic() - start < 3 * server.patience()
        check_serves(site.address)


def test_a_peer_that_never_stops_sending():
    with one_site() as site, fcgi.Connection(site.address) as connection:
        params = b"".join(fcgi.pair(name, value) for name, value in fcgi.params_of(INFO, "POST").items())
        connection.send(fcgi.begin() + fcgi.records(fcgi.PARAMS, params) + fcgi.record(fcgi.STDIN, bytes(65535)) +
                        fcgi.record(fcgi.STDIN, bytes(100)))
        assert connection.read_reply().status == 413
        start = time.monotonic()
        check_serves(site.address)
        assert time.monotonic() - start < 2 * server.patience()


def test_a_peer_that_leaves():
    with unix_site("--workers", "1") as (process, address):
        worker, = server.children(process.pid)
        large_reply(address).close()
        with fcgi.Connection(address) as connection:
            connection.send(fcgi.request(fcgi.params_of(INFO)))
        fcgi.Connection(address).close()
        check_serves(address)
        log = read(process.log)
        assert log.count("noise.tif") == 1 and "noise.tif/full/max/0/default.png 200" in log, log
        assert server.children(process.pid) == [worker]


def test_work_for_a_client_that_left_stops():
    fixture.ramp_pyramid(6000, 4500)
    uri = "/iiif/3/ramp-6000x4500.tif/full/max/0/default.png"
    with one_site(MAX_CVT="6000") as site:
        start = time.monotonic()
        assert fcgi.get(site.address, uri).status == 200
        whole = time.monotonic() - start
        with fcgi.Connection(site.address) as connection:
            connection.send(fcgi.request(fcgi.params_of(uri)))
            time.sleep(0.03)
        start = time.monotonic()
        assert fcgi.get(site.address, HOME).status == 200
        left = time.monotonic() - start
        assert left < whole / 2, (left, whole)
        lines = [line for line in site.log_text().splitlines() if uri in line]
        assert len(lines) == 2 and " 200 " in lines[0] and " 499 " in lines[1], lines


def test_management_records():
    """libfcgi sees the end of such a record only when something follows."""
    with one_site() as site, fcgi.Connection(site.address) as connection:
        connection.send(fcgi.record(fcgi.GET_VALUES, fcgi.pair("FCGI_MPXS_CONNS", ""), 0) +
                        fcgi.request(fcgi.params_of(INFO)))
        kind, request_id, content = connection.read_record()
        assert (kind, request_id) == (fcgi.GET_VALUES_RESULT, 0) and b"FCGI_MPXS_CONNS0" in content
        assert connection.read_reply().status == 200


def test_kept_connections():
    with one_site() as site, fcgi.Connection(site.address) as connection:
        for i in range(100):
            reply = connection.ask(fcgi.params_of(INFO), request_id=1 + i % 3)
            assert reply.status == 200
        reply = connection.ask(fcgi.params_of(INFO, "POST", b"x" * 60000), b"x" * 60000)
        assert reply.status == 200
        assert connection.ask(fcgi.params_of(INFO)).status == 200
        assert connection.ask(fcgi.params_of(INFO), keep=False).status == 200
        assert connection.closed_by_peer(1)


def test_kept_connections_keep_nobody_out():
    with one_site() as site, contextlib.ExitStack() as stack:
        for _ in range(5):
            connection = stack.enter_context(fcgi.Connection(site.address))
            assert connection.ask(fcgi.params_of(INFO)).status == 200
            start = time.monotonic()
            check_serves(site.address)
            assert time.monotonic() - start < 0.5 * server.patience()


def test_a_busy_kept_connection_makes_room():
    """Requests without a pause on a kept connection, and a new one: its turn comes."""
    with one_site() as site, fcgi.Connection(site.address) as busy, fcgi.Connection(site.address) as other:
        other.send(fcgi.request(fcgi.params_of(INFO)))
        answered = 0
        with contextlib.suppress(ConnectionError, fcgi.Closed):
            for _ in range(50):
                assert busy.ask(fcgi.params_of(INFO)).status == 200
                answered += 1
        assert answered < 50
        assert other.read_reply().status == 200


def test_bodies():
    with one_site() as site:
        def status(**more):
            return fcgi.ask(site.address, fcgi.params_of(INFO, "POST", **more), b"0123456789").status
        assert status(CONTENT_LENGTH="10") == 200
        assert status(CONTENT_LENGTH="") == 200
        assert status(CONTENT_LENGTH="11") == 400
        assert status(CONTENT_LENGTH="ten") == 400
        assert status(CONTENT_LENGTH="4000000000") == 413
        assert status(CONTENT_LENGTH="99999999999999999999999") == 413
        long = b"x" * 70000
        assert fcgi.get(site.address, INFO, "POST", long).status == 413
        assert fcgi.get(site.address, INFO, "POST", long, CONTENT_LENGTH=None).status == 413
        check_serves(site.address)


def test_refused_before_anything_else():
    """The first request of a worker, and one behind an answer, whose ways of coming about are not this one's."""
    with one_site() as site:
        worker = site.worker_pids()
        for before in (INFO, INFO + "?" + 9000 * "x"):
            assert fcgi.get(site.address, INFO, CONTENT_LENGTH="x").status == 400
            fcgi.get(site.address, before)
        tile = INFO.replace("info.json", "0,0,8,8/max/0/default.png")
        assert fcgi.get(site.address, tile).status == 200 and fcgi.get(site.address, INFO, CONTENT_LENGTH="x").status == 400
        assert site.worker_pids() == worker and " 400 " in site.log_text()
        assert not [line for line in site.log_text().splitlines() if " 400 " in line and "rendered" in line]


def test_a_missing_method_is_get():
    with one_site() as site:
        assert fcgi.get(site.address, INFO, REQUEST_METHOD=None).status == 200
        assert fcgi.get(site.address, HOME, REQUEST_METHOD=None).status == 200


def test_lengths():
    tile = "/iiif/3/ramp-1037x779.tif/0,0,256,256/256,256/0/default.jpg"
    with one_site() as site:
        for uri in (HOME, INFO, tile, "/iiif/3/none/info.json", "/none"):
            got, head = (fcgi.get(site.address, uri, method) for method in ("GET", "HEAD"))
            assert int(got.header("Content-Length")) == len(got.body) > 0, uri
            assert head.status == got.status and head.body == b"", uri
            assert head.header("Content-Length") == got.header("Content-Length"), uri
        not_modified = fcgi.get(site.address, tile, HTTP_IF_NONE_MATCH=fcgi.get(site.address, tile).header("ETag"))
        assert (not_modified.status, not_modified.body) == (304, b"") and not not_modified.all("Content-Length")
        assert fcgi.get(site.address, tile, "OPTIONS").header("Content-Length") == "0"


def test_a_reply_of_many_records():
    with unix_site() as (_, address):
        reply = fcgi.get(address, "/iiif/3/noise.tif/full/max/0/default.png")
        assert len(reply.body) == int(reply.header("Content-Length")) > 1 << 20
        assert reply.body.endswith(b"IEND\xaeB`\x82")


def test_only_named_web_servers():
    port = server.free_port()
    address = ("127.0.0.1", port)
    bind = "127.0.0.1:%d" % port
    with running("--bind", bind, address=address, FCGI_WEB_SERVER_ADDRS="10.0.0.1, 127.0.0.1"):
        check_serves(address)
    with running("--bind", bind, address=address, FCGI_WEB_SERVER_ADDRS="10.0.0.1,bad"):
        with fcgi.Connection(address) as connection:
            with contextlib.suppress(ConnectionError):
                connection.send(fcgi.request(fcgi.params_of(INFO)))
            assert connection.closed_by_peer(1)


def test_descriptors_and_memory_stay():
    with one_site() as site:
        fcgi.get(site.address, HOME)  # the worker is there
        pid, = site.worker_pids()

        def burst(n):
            for i in range(n):
                uri = (INFO, "/iiif/3/none/info.json", "/iiif/3/ramp-1037x779.tif/full/100,/0/default.png", HOME)[i % 4]
                fcgi.get(site.address, uri)
            return descriptors(pid), resident(pid)
        first, later = burst(200), burst(800)
        assert later[0] == first[0], (first, later)
        with open(server.TEGULA, "rb") as binary:  # a sanitizer keeps what is freed
            sanitized = b"__asan_init" in binary.read()
        assert sanitized or later[1] <= first[1] * 1.1 + 256, (first, later)


def resident(pid):
    """KiB."""
    for line in read("/proc/%d/status" % pid).splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
