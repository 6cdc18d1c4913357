"""A tegula with a web server in front of it, for tests: started on free addresses, stopped for sure.

    with Site("nginx-tcp", images, MAX_CVT="1000") as site:
        reply = site.get("/iiif/3/x.tif/info.json")

FRONTS names the ways in. The web servers run the configurations of nginx/ and apache/ as they are;
only addresses are given to them. TEGULA in the environment names the binary, TEGULA_FRONT the way
that tests use which are not about one in particular.
"""
import atexit
import http.client
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import fcgi

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FRONTS = ("direct", "nginx-tcp", "nginx-unix", "apache-fcgid", "apache-proxy")
FRONT = os.environ.get("TEGULA_FRONT", "direct")
TEGULA = os.path.abspath(os.environ.get("TEGULA", "tegula"))
START_SECONDS = 20
REPLY_SECONDS = 60

# Passed on to everything started; tegula itself is configured by what a test names, and no more.
KEEP_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "TEGULA_CPU", "ASAN_OPTIONS", "UBSAN_OPTIONS",
                    "LSAN_OPTIONS")


def have(program):
    """Whether a program is there, also where only root's PATH has it."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
    return shutil.which(program, path=path)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def base_environment():
    env = {name: os.environ[name] for name in KEEP_ENVIRONMENT if name in os.environ}
    env.setdefault("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    return env


def patience():
    """What limits of time are multiplied by: 1, or the programs that wait for each processor."""
    return max(1, os.getloadavg()[0] / os.cpu_count())


def connects(address):
    """address: (host, port) or the path of a Unix socket."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as s:
        s.settimeout(1)
        try:
            s.connect(address)
            return True
        except OSError:
            return False


class Daemon:
    """A process in the foreground that is ready when its address takes connections."""

    def __init__(self, argv, env, cwd, log, address, stop_signal=signal.SIGTERM):
        self.log, self.stop_signal = log, stop_signal
        with open(log, "ab") as out:
            self.process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, start_new_session=True)
        self.pid = self.process.pid
        atexit.register(self.stop)
        deadline = time.monotonic() + START_SECONDS
        while not connects(address):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("%s did not start:\n%s" % (os.path.basename(argv[0]), self.log_text()))
            time.sleep(0.02)

    def log_text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def stop(self):
        atexit.unregister(self.stop)
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:  # what it may have left behind shares its session
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.wait()
        return self.process.returncode


def by_libheif(avif):
    """As PNG, for a Pillow that knows no AVIF."""
    tool = shutil.which("heif-convert")
    if not tool:
        raise unittest.SkipTest("no heif-convert")
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "a.avif"), os.path.join(folder, "a.png")
        with open(source, "wb") as f:
            f.write(avif)
        subprocess.run([tool, source, made], check=True, capture_output=True)
        with open(made, "rb") as f:
            return f.read()


class Reply:
    """Status, header pairs in the order received, body."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name):
        """The one value of a header, None when absent; a header sent twice fails the test."""
        values = self.all(name)
        assert len(values) < 2, "%s sent %d times: %r" % (name, len(values), values)
        return values[0] if values else None

    def type(self):
        return (self.header("Content-Type") or "").split(";")[0].strip()

    def json(self):
        return json.loads(self.body.decode("utf-8"))

    def image(self):
        from PIL import Image
        assert self.status == 200, "status %d: %s" % (self.status, self.body[:200])
        body = by_libheif(self.body) if self.type() == "image/avif" else self.body
        picture = Image.open(io.BytesIO(body))
        picture.load()
        return picture

    def size(self):
        return self.image().size

    def pixels(self):
        import numpy
        return numpy.asarray(self.image())

    def links(self):
        """rel -> URI of all Link fields."""
        found = {}
        for field in self.all("Link"):
            for uri, rel in re.findall(r'<([^>]*)>\s*;\s*rel="?([^",;]+)"?', field):
                found[rel] = uri
        return found

    def __repr__(self):
        return "%d %r %d bytes" % (self.status, self.headers, len(self.body))


class Site:
    """tegula over a folder of images, behind one of FRONTS. Upper-case names are tegula's settings.
    nginx_cache: a folder of nginx/ that is laid over the site, and what is replaced in it."""

    def __init__(self, front=None, images=".", workers=2, backlog=512, nginx_cache=None, **settings):
        self.nginx_cache = nginx_cache
        self.front, self.workers, self.backlog = front or FRONT, workers, backlog
        self.images = os.path.join(os.path.abspath(images), "")
        self.settings = {"FILESYSTEM_PREFIX": self.images, "URI_MAP": "iiif=>IIIF", "VERBOSITY": "2"}
        self.settings.update(settings)
        self.settings = {k: str(v) for k, v in self.settings.items() if v is not None}
        self.daemons, self.tegula = [], None
        # mod_fcgid's children may run as another user, who must be able to enter.
        self.prefix = tempfile.mkdtemp(prefix="tegula-test-")
        os.chmod(self.prefix, 0o755)
        self.port = free_port()
        self.host = "127.0.0.1:%d" % self.port
        self.base = "http://" + self.host
        try:
            {"direct": self._start_direct, "nginx-tcp": self._start_nginx, "nginx-unix": self._start_nginx,
             "apache-fcgid": self._start_apache, "apache-proxy": self._start_apache}[self.front]()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()

    def stop(self):
        while self.daemons:
            self.daemons.pop().stop()
        shutil.rmtree(self.prefix, ignore_errors=True)

    # -- starting

    def path(self, *names):
        return os.path.join(self.prefix, *names)

    def log_text(self):
        text = ""
        for name in ("tegula.log", "tegula.out", "error.log", "front.out"):
            if os.path.exists(self.path(name)):
                with open(self.path(name), errors="replace") as f:
                    text += f.read()
        return text

    def _start_tegula(self, address):
        env = base_environment()
        env.update(self.settings)
        env.setdefault("LOGFILE", self.path("tegula.log"))
        bind = address if isinstance(address, str) else "%s:%d" % address
        argv = [TEGULA, "--bind", bind, "--workers", str(self.workers), "--backlog", str(self.backlog)]
        if isinstance(address, str):
            argv += ["--socket-mode", "0666"]
        self.tegula = Daemon(argv, env, self.prefix, self.path("tegula.out"), address)
        self.daemons.append(self.tegula)
        self.address = address
        self._await_workers()

    def _await_workers(self):
        """The socket takes connections before the workers are there."""
        deadline = time.monotonic() + START_SECONDS
        while len(self.worker_pids()) < self.workers and time.monotonic() < deadline:
            time.sleep(0.01)

    def _start_direct(self):
        self._start_tegula(("127.0.0.1", self.port))

    def _start_nginx(self):
        unix = self.front == "nginx-unix"
        self._start_tegula(self.path("tegula.sock") if unix else ("127.0.0.1", free_port()))
        start_nginx(self.prefix, self.port, self.address)
        if self.nginx_cache:
            lay_over_nginx(self.prefix, *self.nginx_cache)
        self.daemons.append(run_nginx(self.prefix, self.port))

    def _start_apache(self):
        program = have("apache2")
        conf = os.path.join(TOP, "apache")
        defines = {"TEGULA_ADDRESS": "127.0.0.1", "TEGULA_PORT": str(self.port), "TEGULA_CONF": conf}
        argv = [program, "-d", self.prefix, "-f", os.path.join(conf, "httpd.conf"), "-D", "FOREGROUND"]
        if os.geteuid() == 0:
            defines["TEGULA_USER"] = "www-data"
            os.chmod(self.prefix, 0o777)
        if self.front == "apache-fcgid":
            # Apache's children, and so tegula, may be a user who cannot enter the build directory.
            binary = shutil.copy(TEGULA, self.prefix)
            defines.update(TEGULA_BINARY=binary, TEGULA_IMAGES=self.images, TEGULA_LOG=self.path("tegula.log"))
            argv += ["-D", "WITH_FCGID"]
            env = base_environment()
            del env["PATH"]
            env.update(self.settings)
            env.pop("FILESYSTEM_PREFIX")
            env.setdefault("CORS", "")
            defines["TEGULA_SETTINGS"] = self.path("settings.conf")
            with open(self.path("settings.conf"), "w") as f:
                for name, value in env.items():
                    f.write('FcgidInitialEnv %s "%s"\n' % (name, value))
        else:
            self._start_tegula(("127.0.0.1", free_port()))
            defines["TEGULA_BACKEND"] = "fcgi://127.0.0.1:%d" % self.address[1]
        for name, value in defines.items():
            argv += ["-C", 'Define %s "%s"' % (name, value)]
        self.daemons.append(Daemon(argv, base_environment(), self.prefix, self.path("front.out"),
                                   ("127.0.0.1", self.port)))

    # -- asking

    def get(self, path, headers=None, method="GET", body=b"", params=None):
        """path: raw, with its query; may be absolute on this site. params: FastCGI parameters to add,
        for the direct way only."""
        if path.startswith(self.base):
            path = path[len(self.base):]
        headers = dict(headers or {})
        headers.setdefault("Host", self.host)
        if self.front == "direct":
            return self._get_direct(path, headers, method, body, params or {})
        assert params is None, "params are for the direct way"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REPLY_SECONDS)
        try:
            connection._validate_path = lambda unused: None  # tests send what no client should
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body:
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def _get_direct(self, path, headers, method, body, more):
        params = {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": str(self.port)}
        for name, value in headers.items():
            params["HTTP_" + name.upper().replace("-", "_")] = value
        params.update(more)
        reply = fcgi.get(self.address, path, method, body, timeout=REPLY_SECONDS, **params)
        return Reply(reply.status, [pair for pair in reply.headers if pair[0] != "Status"], reply.body)

    # -- looking inside

    def worker_pids(self):
        """The processes that answer requests."""
        root = self.daemons[-1].pid if self.front == "apache-fcgid" else self.tegula.pid
        name = os.path.basename(TEGULA)
        found = []
        for pid in children(root):
            try:
                with open("/proc/%d/stat" % pid) as f:
                    comm, _, rest = f.read().partition("(")[2].rpartition(")")
            except OSError:
                continue
            if comm == name[:15] and rest.split()[0] != "Z":
                found.append(pid)
        return sorted(found)


class Sites:
    """Sites behind no web server, one for each choice of settings, started when it is first asked for."""

    def __init__(self, images, **always):
        self.images, self.always, self.started = images, always, {}

    def __call__(self, **settings):
        key = tuple(sorted(settings.items()))
        if key not in self.started:
            self.started[key] = Site("direct", self.images, **dict(self.always, **settings))
        return self.started[key]

    def stop(self):
        for each in self.started.values():
            each.stop()
        self.started.clear()


def start_nginx(prefix, port, address):
    """Lays out an nginx prefix: the tree's files as links, addresses in files of its own."""
    conf = os.path.join(TOP, "nginx")
    os.symlink(os.path.join(conf, "nginx.conf"), os.path.join(prefix, "nginx.conf"))
    os.symlink(os.path.join(conf, "conf.d"), os.path.join(prefix, "conf.d"))
    os.makedirs(os.path.join(prefix, "tegula"))
    os.makedirs(os.path.join(prefix, "html"), exist_ok=True)
    os.symlink(os.path.join(conf, "tegula", "fastcgi.conf"), os.path.join(prefix, "tegula", "fastcgi.conf"))
    pool, shown, real = "pool.conf", "127.0.0.1:9000", "127.0.0.1:%s"
    if isinstance(address, str):
        pool, shown, real = "pool-unix.conf", "/run/tegula/tegula.sock", "%s"
    for name, source, old, new in (
            ("listen.conf", "listen.conf", "listen 80;", "listen 127.0.0.1:%d;" % port),
            ("pool.conf", pool, shown, real % (address if isinstance(address, str) else address[1]))):
        with open(os.path.join(conf, "tegula", source)) as f:
            text = f.read()
        assert old in text, "nginx/tegula/%s no longer says %s" % (source, old)
        with open(os.path.join(prefix, "tegula", name), "w") as f:
            f.write(text.replace(old, new))


def lay_over_nginx(prefix, folder, replace):
    """The files of a folder of nginx/, each text in replace changed, which all have to be in one."""
    top, found = os.path.join(TOP, "nginx", folder), set()
    for part in sorted(os.listdir(top)):
        os.makedirs(os.path.join(prefix, "tegula", part))
        for name in os.listdir(os.path.join(top, part)):
            with open(os.path.join(top, part, name)) as f:
                text = f.read()
            for old, new in replace.items():
                found.update({old} if old in text else set())
                text = text.replace(old, new)
            with open(os.path.join(prefix, "tegula", part, name), "w") as f:
                f.write(text)
    assert found == set(replace), "nginx/%s no longer says %r" % (folder, set(replace) - found)


def run_nginx(prefix, port):
    argv = [have("nginx"), "-e", os.path.join(prefix, "error.log"), "-p", prefix, "-c", os.path.join(prefix, "nginx.conf"), "-g", "daemon off;"]
    if os.geteuid() == 0:
        argv[-1] += " user root;"  # the prefix is private to this user
    return Daemon(argv, base_environment(), prefix, os.path.join(prefix, "front.out"), ("127.0.0.1", port),
                  signal.SIGQUIT)


def children(pid):
    """All living descendants of a process."""
    found = []
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            direct = [int(child) for child in f.read().split()]
    except OSError:
        return found
    for child in direct:
        found += [child] + children(child)
    return found


_shared = {}


def shared(images, front=None, workers=2, **settings):
    """A site that lives until the tests end, one for each set of settings; started again if it died."""
    key = (front or FRONT, images, workers, tuple(sorted(settings.items())))
    site = _shared.get(key)
    if site is None or any(d.process.poll() is not None for d in site.daemons):
        if site is not None:
            site.stop()
        site = _shared[key] = Site(front, images, workers, **settings)
        atexit.register(site.stop)
    return site
