// One image in Leaflet: view.html#ID?x=…&y=…&zoom=…, ID as it stands in URLs; the rest is what is looked
// at, a centre in pixels of the full image, kept up to date so that a view can be bookmarked.
'use strict';

const byId = (id) => document.getElementById(id);
const BEYOND_NATIVE = 2; // zooms past full size
const KEYS = { Escape: 'back', PageUp: 'previous', PageDown: 'next' };

let map = null;

function fail(text) {
  byId('message').textContent = text;
  byId('message').hidden = false;
}

function keepAddress(id, zoomOfPixels) {
  map.on('moveend', () => {
    const { x, y } = map.project(map.getCenter(), zoomOfPixels);
    history.replaceState(null, '', `#${id}?x=${Math.round(x)}&y=${Math.round(y)}&zoom=${map.getZoom()}`);
  });
}

function show(info, id, name, view) {
  map = L.map('map', {
    crs: L.CRS.Simple,
    attributionControl: false,
    zoomSnap: 0.05,
    zoomDelta: 1,
    wheelPxPerZoomLevel: 120,
  });
  const layer = new IiifLayer(info);
  const { maxNativeZoom } = layer.options;
  const bounds = layer.imageBounds(map);
  const fit = map.getBoundsZoom(bounds);

  layer.options.bounds = bounds;
  layer.options.maxZoom = maxNativeZoom + BEYOND_NATIVE;
  layer.options.minZoom = Math.min(fit, 0) - 1;
  map.setMinZoom(Math.min(fit, maxNativeZoom));
  map.setMaxZoom(layer.options.maxZoom);
  if (view.has('zoom')) {
    map.setView(map.unproject([Number(view.get('x')), Number(view.get('y'))], maxNativeZoom), Number(view.get('zoom')));
  } else {
    map.fitBounds(bounds);
  }
  map.setMaxBounds(bounds.pad(0.5));
  layer.addTo(map);
  layer.on('tileerror', () => fail('A part of the image could not be loaded.'));
  layer.on('load', () => { document.body.dataset.loaded = 'yes'; });
  map.on('zoomstart movestart', () => { delete document.body.dataset.loaded; });
  keepAddress(id, maxNativeZoom);
  // Keys work at once; the ring is for those who come here by keys.
  byId('map').classList.add('quiet');
  byId('map').addEventListener('blur', () => byId('map').classList.remove('quiet'), { once: true });
  byId('map').focus({ preventScroll: true });
  byId('map').addEventListener('keydown', (event) => {
    if (event.key === 'Home') map.fitBounds(bounds);
  });
  byId('size').textContent = `${info.width.toLocaleString()} × ${info.height.toLocaleString()}`;
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
  byId('title').textContent = name;
  fetch('images.json').then((reply) => reply.json()).then((found) => linkNeighbours(found.images, id), () => {});
  fetch(`iiif/3/${id}/info.json`).then((reply) => {
    if (!reply.ok) return reply.text().then((text) => { throw new Error(text.trim() || `status ${reply.status}`); });
    return reply.json();
  }).then((info) => show(info, id, name, new URLSearchParams(view))).catch((error) => fail(`${name}: ${error.message}`));
}

addEventListener('hashchange', () => location.reload());
addEventListener('keydown', (event) => {
  const link = byId(KEYS[event.key]);
  if (link && link.href) link.click();
});
open();
