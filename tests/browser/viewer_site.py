"""tegula behind nginx as viewers meet it: every protocol, and pages that come from another origin, so
that CORS=* is put to the test."""
import atexit
import os
import shutil
import urllib.parse

import fixture
import packages
import server

PAGES = os.path.join(packages.HERE, "pages")
SETTINGS = {"URI_MAP": "iiif=>IIIF, dz=>DeepZoom, zf=>Zoomify, xyz=>XYZ", "CORS": "*"}
IIP = "/fcgi-bin/iipsrv.fcgi"

PAGE_SERVER = """
server {
    listen 127.0.0.1:%d;
    root %s;
    location = /favicon.ico { return 204; }
    location /manifests/ { default_type application/json; }
    location /packages/ { alias %s/; }
}
"""


class ViewerSite(server.Site):
    """The configuration of nginx/, with the other protocols beside IIIF, and a server of pages."""

    def __init__(self, **settings):
        super().__init__("nginx-tcp", fixture.root(), **dict(SETTINGS, **settings))

    def _start_nginx(self):
        self._start_tegula(("127.0.0.1", server.free_port()))
        server.start_nginx(self.prefix, self.port, self.address)
        self.page_port = server.free_port()
        self.pages = self.path("pages")
        shutil.copytree(PAGES, self.pages)
        os.mkdir(os.path.join(self.pages, "manifests"))
        self._add_to_configuration()
        self.daemons.append(server.run_nginx(self.prefix, self.port))

    def _add_to_configuration(self):
        conf = self.path("conf.d")
        os.unlink(conf)  # a link to the tree's
        shutil.copytree(os.path.join(server.TOP, "nginx", "conf.d"), conf)
        with open(os.path.join(conf, "tegula.conf")) as f:
            text = f.read()
        only_iiif = "location /iiif/ {"
        assert only_iiif in text, "nginx/conf.d/tegula.conf no longer says " + only_iiif
        with open(os.path.join(conf, "tegula.conf"), "w") as f:
            f.write(text.replace(only_iiif, "location ~ ^/(iiif|dz|zf|xyz|fcgi-bin)/ {"))
        with open(os.path.join(conf, "pages.conf"), "w") as f:
            f.write(PAGE_SERVER % (self.page_port, self.pages, os.path.join(packages.folder(), "node_modules")))

    def page(self, name, **asked):
        """The address of a page, which reads what to show from its query."""
        return "http://127.0.0.1:%d/%s.html?%s" % (self.page_port, name, urllib.parse.urlencode(asked))

    def manifest(self, name, text):
        """Puts a manifest among the pages; returns its address."""
        with open(os.path.join(self.pages, "manifests", name), "w") as f:
            f.write(text)
        return "http://127.0.0.1:%d/manifests/%s" % (self.page_port, name)


_site = None


def site():
    """One for all tests."""
    global _site
    if _site is None:
        _site = ViewerSite()
        atexit.register(_site.stop)
    return _site


def has_iip(name):
    return site().get("%s?FIF=%s&obj=Max-size" % (IIP, name)).status != 501
