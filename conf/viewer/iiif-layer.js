// A Leaflet layer of IIIF Image API 3 tiles, for L.CRS.Simple: zoom maxNativeZoom is full size, and each
// zoom below it halves that.
//
// Leaflet scales a level as a whole, which at zooms between the levels lets tiles end within a pixel, so
// that what is behind them shines through. Here, once a zoom has ended, every tile is laid out in whole
// pixels of the screen: neighbours share the same rounded edge. While zooming, the level is scaled from
// there; level.scale is the scale its tiles are laid out for.
'use strict';

const IiifLayer = L.TileLayer.extend({
  initialize(info, options) {
    const [tile] = info.tiles;
    this.info = info;
    this.tile = L.point(tile.width, tile.height || tile.width);
    const factors = Math.max(...tile.scaleFactors);
    L.TileLayer.prototype.initialize.call(this, '', {
      tileSize: this.tile,
      minZoom: -Infinity,
      minNativeZoom: 0,
      maxNativeZoom: Math.round(Math.log2(factors)),
      noWrap: true,
      ...options,
    });
    this.on('tileloadstart', ({ tile: element, coords }) => this.place(element, coords));
  },

  getEvents() {
    return { ...L.TileLayer.prototype.getEvents.call(this), zoomend: this.layOut };
  },

  layOut() {
    const zoom = this._map.getZoom();
    for (const level of Object.values(this._levels)) level.scale = this._map.getZoomScale(zoom, level.zoom);
    for (const { el, coords } of Object.values(this._tiles)) this.place(el, coords);
    this._setZoomTransforms(this._map.getCenter(), zoom);
  },

  // The last tiles of rows and columns are as wide and high as what they show, not as the others.
  place(element, coords) {
    const { origin, scale } = this._levels[coords.z];
    const snapped = (point) => point.multiplyBy(scale * devicePixelRatio).round().divideBy(devicePixelRatio);
    const corner = coords.scaleBy(this.tile).subtract(origin);
    const from = snapped(corner);
    const { x, y } = snapped(corner.add(this.part(coords).extent)).subtract(from);
    Object.assign(element.style, {
      transform: 'none', left: `${from.x}px`, top: `${from.y}px`, width: `${x}px`, height: `${y}px`,
    });
  },

  _setZoomTransform(level, center, zoom) {
    const scale = this._map.getZoomScale(zoom, level.zoom);
    const corner = level.origin.multiplyBy(scale).subtract(this._map._getNewPixelOrigin(center, zoom)).round();
    level.scale = level.scale || scale;
    L.DomUtil.setTransform(level.el, corner, scale / level.scale);
  },

  // The map's coordinates of the whole image.
  imageBounds(map) {
    const zoom = this.options.maxNativeZoom;
    return L.latLngBounds(
      map.unproject([0, this.info.height], zoom),
      map.unproject([this.info.width, 0], zoom),
    );
  },

  // Region in pixels of the full image, what it measures in pixels of the level, and the tile's size.
  part({ x, y, z }) {
    const { width, height } = this.info;
    const factor = 2 ** (this.options.maxNativeZoom - z);
    const left = x * this.tile.x * factor;
    const top = y * this.tile.y * factor;
    const w = Math.min(this.tile.x * factor, width - left);
    const h = Math.min(this.tile.y * factor, height - top);
    const extent = L.point(w, h).divideBy(factor);
    return { region: [left, top, w, h], extent, size: extent.ceil() };
  },

  getTileUrl(coords) {
    const { region, size } = this.part(coords);
    return `${this.info.id}/${region.join(',')}/${size.x},${size.y}/0/default.jpg`;
  },
});
