// A Leaflet layer of IIIF Image API 3 tiles, for L.CRS.Simple: zoom maxNativeZoom is full size, and each
// zoom below it halves that.
'use strict';

const IiifLayer = L.TileLayer.extend({
  initialize(info, options) {
    const [tile] = info.tiles;
    this.info = info;
    this.tile = L.point(tile.width, tile.height || tile.width);
    const factors = Math.max(...tile.scaleFactors);
    L.TileLayer.prototype.initialize.call(this, '', {
      tileSize: this.tile,
      minNativeZoom: 0,
      maxNativeZoom: Math.round(Math.log2(factors)),
      noWrap: true,
      ...options,
    });
    // Leaflet gives every tile the full size; those at the right and lower edge are smaller.
    this.on('tileloadstart', ({ tile: element, coords }) => {
      const { size } = this.part(coords);
      element.style.width = `${size.x}px`;
      element.style.height = `${size.y}px`;
    });
  },

  // The map's coordinates of the whole image.
  imageBounds(map) {
    const zoom = this.options.maxNativeZoom;
    return L.latLngBounds(
      map.unproject([0, this.info.height], zoom),
      map.unproject([this.info.width, 0], zoom),
    );
  },

  // Region in pixels of the full image and size in pixels of the tile.
  part({ x, y, z }) {
    const { width, height } = this.info;
    const factor = 2 ** (this.options.maxNativeZoom - z);
    const left = x * this.tile.x * factor;
    const top = y * this.tile.y * factor;
    const w = Math.min(this.tile.x * factor, width - left);
    const h = Math.min(this.tile.y * factor, height - top);
    return {
      region: [left, top, w, h],
      size: L.point(Math.ceil(w / factor), Math.ceil(h / factor)),
    };
  },

  getTileUrl(coords) {
    const { region, size } = this.part(coords);
    return `${this.info.id}/${region.join(',')}/${size.x},${size.y}/0/default.jpg`;
  },
});
