// The page of thumbnails. images.json, written by ./serve, tells what there is:
// {folder, more, images: [{id, name, width, height}], others: [{name, why}]}; id is percent-encoded.
'use strict';

const BATCH = 60; // cards added at a time, when the end of the page comes near

const byId = (id) => document.getElementById(id);
const plural = (n, noun) => `${n.toLocaleString()} ${noun}${n === 1 ? '' : 's'}`;

function thumbnail(image, side) {
  return `iiif/3/${image.id}/full/!${side},${side}/0/default.jpg`;
}

// What the server says of a picture it does not give.
async function refusal(address) {
  const reply = await fetch(address);
  const plain = (reply.headers.get('Content-Type') || '').startsWith('text/plain');
  return (!reply.ok && plain && (await reply.text()).trim()) || 'cannot be shown';
}

function card(image) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const picture = document.createElement('img');
  const name = document.createElement('span');
  const size = document.createElement('small');

  link.className = 'card';
  link.href = `view.html#${image.id}`;
  link.title = image.name;
  picture.loading = 'lazy';
  picture.decoding = 'async';
  picture.width = 400;
  picture.height = 300;
  picture.alt = '';
  picture.srcset = `${thumbnail(image, 400)} 1x, ${thumbnail(image, 800)} 2x`;
  picture.src = thumbnail(image, 400);
  picture.addEventListener('error', () => {
    const note = document.createElement('em');
    picture.replaceWith(note);
    refusal(picture.src).catch(() => 'cannot be shown').then((text) => { note.textContent = text; });
  });
  name.textContent = image.name;
  size.textContent = `${image.width.toLocaleString()} × ${image.height.toLocaleString()}`;
  link.append(picture, name, size);
  item.append(link);
  return item;
}

// Shows the images in batches: a folder may hold thousands.
class Grid {
  constructor(list) {
    this.list = list;
    this.images = [];
    this.end = document.createElement('div');
    list.after(this.end);
    this.observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.add();
    }, { rootMargin: '800px' });
  }

  show(images) {
    this.images = images;
    this.list.replaceChildren();
    this.add();
  }

  add() {
    const shown = this.list.childElementCount;
    this.list.append(...this.images.slice(shown, shown + BATCH).map(card));
    // It tells of changes only, and of where things are when it begins: on a large screen the end may be
    // near still.
    this.observer.unobserve(this.end);
    if (shown + BATCH < this.images.length) this.observer.observe(this.end);
  }
}

function showOthers(files) {
  const others = byId('others');
  if (!files.length) return;
  others.hidden = false;
  others.querySelector('summary').textContent = `${plural(files.length, 'file')} tegula cannot read`;
  others.addEventListener('toggle', () => {
    others.querySelector('ul').replaceChildren(...files.map(({ name, why }) => {
      const item = document.createElement('li');
      item.textContent = why ? `${name}: ${why}` : name;
      return item;
    }));
  }, { once: true });
}

function show(found) {
  const grid = new Grid(byId('grid'));
  const filter = byId('filter');
  document.title = `${found.folder} – tegula`;
  byId('title').textContent = found.folder;
  byId('count').textContent = plural(found.images.length, 'image') + (found.more ? ', and more not looked at' : '');
  if (!found.images.length) {
    byId('message').textContent = 'There are no images here that tegula can read.';
    byId('message').hidden = false;
  }
  filter.hidden = found.images.length < 9;
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    grid.show(found.images.filter((image) => words.every((word) => image.name.toLowerCase().includes(word))));
  });
  grid.show(found.images);
  showOthers(found.others);
}

fetch('images.json').then((reply) => reply.json()).then(show, (error) => {
  byId('message').textContent = `The list of images cannot be read: ${error.message}`;
  byId('message').hidden = false;
});
