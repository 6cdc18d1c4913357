"""Mirador 4 and Universal Viewer 4: a manifest leads them to the image."""
import json

from pictures import source
from tour import FULL_DB, STRETCHED_DB, Tour, iiif_tile
from viewer_site import site

SIZE = (800, 640)
# Mirador draws on a canvas, Universal Viewer with WebGL.
FLOOR_DB = {"mirador": STRETCHED_DB, "universalviewer": FULL_DB}


def manifest_2(img, service):
    """Presentation API 2.1 with an image of Image API 2."""
    address = site().base + "/manifest/"
    return {
        "@context": "http://iiif.io/api/presentation/2/context.json", "@id": address + "2", "@type": "sc:Manifest",
        "label": img.name, "sequences": [{"@type": "sc:Sequence", "canvases": [{
            "@id": address + "canvas", "@type": "sc:Canvas", "label": "1", "width": img.w, "height": img.h,
            "images": [{"@type": "oa:Annotation", "motivation": "sc:painting", "on": address + "canvas", "resource": {
                "@id": service + "/full/full/0/default.jpg", "@type": "dctypes:Image", "format": "image/jpeg",
                "width": img.w, "height": img.h, "service": {
                    "@context": "http://iiif.io/api/image/2/context.json", "@id": service,
                    "profile": "http://iiif.io/api/image/2/level2.json"}}}]}]}]}


def manifest_3(img, service):
    address = site().base + "/manifest/"
    return {
        "@context": "http://iiif.io/api/presentation/3/context.json", "id": address + "3", "type": "Manifest",
        "label": {"none": [img.name]}, "items": [{
            "id": address + "canvas", "type": "Canvas", "label": {"none": ["1"]}, "width": img.w, "height": img.h,
            "items": [{"id": address + "page", "type": "AnnotationPage", "items": [{
                "id": address + "painting", "type": "Annotation", "motivation": "painting", "target": address + "canvas",
                "body": {"id": service + "/full/max/0/default.jpg", "type": "Image", "format": "image/jpeg",
                         "width": img.w, "height": img.h,
                         "service": [{"id": service, "type": "ImageService3", "profile": "level2"}]}}]}]}]}


# What they complain of by themselves, whatever the server.
HARMLESS = {
    "mirador": ["Accessing element.ref was removed in React 19."],
    # An empty picture whose address it takes for a file's.
    "universalviewer": ["/images/data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="],
}


def tour(viewer, version, file):
    img = source(file)
    service = "%s/iiif/%d/%s" % (site().base, version, img.name)
    make = manifest_2 if version == 2 else manifest_3
    address = site().manifest("%d-%s.json" % (version, file), json.dumps(make(img, service)))
    Tour("%s-iiif%d" % (viewer, version), site().page(viewer, url=address), img, iiif_tile, size=SIZE,
         harmless=HARMLESS[viewer], beyond=False, full_db=FLOOR_DB[viewer]).go()


def test_mirador_iiif_2():
    tour("mirador", 2, "jpeg")


def test_mirador_iiif_3():
    tour("mirador", 3, "deflate")


def test_universal_viewer_iiif_2():
    tour("universalviewer", 2, "deflate")


def test_universal_viewer_iiif_3():
    tour("universalviewer", 3, "jpeg")
