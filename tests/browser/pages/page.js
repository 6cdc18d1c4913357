// What every page needs: the query that says what to show, and the contract of chromium.py.
'use strict';

const asked = Object.fromEntries(new URLSearchParams(location.search));

const boxOf = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
};

// Where nothing covers the canvas; pages with controls set their own.
window.area = () => ({ canvas: boxOf(document.getElementById('viewer')), clear: boxOf(document.getElementById('viewer')) });

// The attributes of a Zoomify or Deep Zoom document, which viewers leave to the page.
async function xmlRoot(url) {
    const reply = await fetch(url);
    if (!reply.ok) throw new Error(`${url}: ${reply.status}`);
    return new DOMParser().parseFromString(await reply.text(), 'application/xml').documentElement;
}

// Pixel x, y of the image in metres of EPSG:3857, by what the query says of its place.
const onMap = (x, y) => [+asked.west + x * asked.metres, asked.north - y * asked.metres];

// In OpenSeadragon's terms, for each viewer that is made of it.
function openSeadragonView(viewer, x, y, scale) {
    const image = viewer.world.getItemAt(0);
    viewer.viewport.zoomTo(image.imageToViewportZoom(scale), null, true);
    viewer.viewport.panTo(image.imageToViewportCoordinates(x, y), true);
}
