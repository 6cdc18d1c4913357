// One image in Leaflet: view.html#ID?x=…&y=…&zoom=…, ID as it stands in URLs; the rest is what is looked
// at, a centre in pixels of the full image, kept up to date so that a view can be bookmarked.
'use strict';

const byId = (id) => document.getElementById(id);
const BEYOND_NATIVE = 2; // zooms past full size
const KEYS = { Escape: 'back', PageUp: 'previous', PageDown: 'next' };

let map = null;

function fail(text) {
  byId('message').querySelector('span').textContent = text;
  byId('message').hidden = false;
}

// The server says in a sentence what is wrong; whoever stands before it may answer with a page instead.
async function fetchInfo(id) {
  const reply = await fetch(`iiif/3/${id}/info.json`);
  if (reply.ok) return reply.json();
  const plain = (reply.headers.get('Content-Type') || '').startsWith('text/plain');
  throw new Error((plain && (await reply.text()).trim()) || `the server answers with status ${reply.status}`);
}

// Zooms are free, as that which fits is any; but buttons and keys, which all come by here, lead to whole
// ones, where the pixels of a level are those of the page.
const ImageMap = L.Map.extend({
  setZoom(zoom, options) {
    return L.Map.prototype.setZoom.call(this, Math.round(zoom), options);
  },
});

// The least zoom is that at which all of the image just fits, or full size. If all of it is in view, it
// is fitted again when the window changes.
class Fit {
  constructor(bounds, fullZoom) {
    this.bounds = bounds;
    this.fullZoom = fullZoom;
    this.whole = false;
    this.measure();
    map.on('moveend', () => { this.whole = map.getBounds().pad(0.01).contains(bounds); });
    map.on('resize', () => {
      this.measure();
      if (this.whole || map.getZoom() < map.getMinZoom()) this.showAgain();
    });
  }

  measure() {
    map.options.minZoom = -Infinity;
    this.zoom = map.getBoundsZoom(this.bounds);
    map.options.minZoom = Math.min(this.zoom, this.fullZoom);
  }

  show() {
    map.setView(this.bounds.getCenter(), this.zoom);
  }

  // At once; setView would either move there slowly or drop the tiles in view.
  showAgain() {
    map._stop()._moveStart(true, false)._move(this.bounds.getCenter(), this.zoom)._moveEnd(true);
  }
}

// What is looked at; nothing when that is all of it, which is fitted anew in each window.
function keepAddress(id, fit) {
  map.on('moveend', () => {
    const { x, y } = map.project(map.getCenter(), fit.fullZoom);
    const view = `?x=${Math.round(x)}&y=${Math.round(y)}&zoom=${Number(map.getZoom().toFixed(4))}`;
    history.replaceState(null, '', `#${id}${fit.whole ? '' : view}`);
  });
}

function showView(view, fit) {
  const [x, y, zoom] = ['x', 'y', 'zoom'].map((key) => Number(view.get(key)));
  if (view.has('zoom')) map.setView(map.unproject([x, y], fit.fullZoom), zoom);
  else fit.show();
}

function takeKeys(fit) {
  // Keys work at once; the ring is for those who come here by keys.
  byId('map').classList.add('quiet');
  byId('map').addEventListener('blur', () => byId('map').classList.remove('quiet'), { once: true });
  byId('map').focus({ preventScroll: true });
  byId('map').addEventListener('keydown', (event) => {
    if (event.key === 'Home') fit.show();
  });
}

function show(info, id, view) {
  map = new ImageMap('map', {
    crs: L.CRS.Simple,
    attributionControl: false,
    fadeAnimation: false,
    zoomSnap: 0,
    zoomDelta: 1,
    wheelPxPerZoomLevel: 120,
  });
  const layer = new IiifLayer(info);
  const { maxNativeZoom } = layer.options;
  const bounds = layer.imageBounds(map);

  layer.options.bounds = bounds;
  layer.options.maxZoom = maxNativeZoom + BEYOND_NATIVE;
  map.setMaxZoom(layer.options.maxZoom);
  const fit = new Fit(bounds, maxNativeZoom);
  keepAddress(id, fit);
  showView(view, fit);
  map.setMaxBounds(bounds.pad(0.5));
  layer.addTo(map);
  layer.on('tileerror', () => fail('A part of the image could not be loaded.'));
  layer.on('load', () => { document.body.dataset.loaded = 'yes'; });
  map.on('zoomstart movestart', () => { delete document.body.dataset.loaded; });
  takeKeys(fit);
  byId('size').textContent = `${info.width.toLocaleString()} × ${info.height.toLocaleString()}`;
}

// In a narrow window the folder gives way to the file's own name.
function showName(name) {
  const slash = name.lastIndexOf('/');
  byId('title').title = name;
  byId('title').querySelector('.folder').textContent = name.slice(0, Math.max(slash, 0));
  byId('title').querySelector('.file').textContent = name.slice(Math.max(slash, 0));
  document.title = `${name} – tegula`;
}

function linkNeighbours(images, id) {
  const at = images.findIndex((image) => image.id === id);
  for (const [link, image] of [['previous', images[at - 1]], ['next', at < 0 ? null : images[at + 1]]]) {
    if (image) {
      byId(link).href = `#${image.id}`;
      byId(link).title += `: ${image.name}`;
    }
  }
}

function open() {
  const [id, view = ''] = location.hash.slice(1).split('?');
  let name = id;
  try {
    name = decodeURIComponent(id);
  } catch { /* shown as it is */ }
  if (!id) {
    fail('This address names no image.');
    return;
  }
  showName(name);
  fetch('images.json').then((reply) => reply.json()).then((found) => linkNeighbours(found.images, id), () => {});
  fetchInfo(id).then((info) => show(info, id, new URLSearchParams(view)))
    .catch((error) => fail(`${name}: ${error.message}`));
}

addEventListener('hashchange', () => location.reload());
addEventListener('keydown', (event) => {
  const link = byId(KEYS[event.key]);
  if (link && link.href) link.click();
});
open();
