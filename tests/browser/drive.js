// Drives Chromium for chromium.py: one command a line on standard input, one answer a line on standard
// output, both JSON; the first one is Chromium's version. usage: node drive.js NODE_MODULES CHROMIUM
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const { chromium } = require(path.join(process.argv[2], 'playwright-core'));

const OPEN_MS = 30000;
const IDLE_MS = 20000;
const QUIET_MS = 250; // without a request in flight

let browser;
let page;
let seen; // what the page asked for and said
let picture; // of the page at rest

function watch(to) {
  seen = { replies: [], failures: [], errors: [], warnings: [], inFlight: new Set(), quietSince: Date.now() };
  const ended = (request) => {
    seen.inFlight.delete(request);
    seen.quietSince = Date.now();
  };
  to.on('request', (request) => seen.inFlight.add(request));
  to.on('requestfinished', ended);
  to.on('requestfailed', (request) => {
    ended(request);
    const reason = request.failure().errorText;
    seen.failures.push({ url: request.url(), reason });
  });
  to.on('response', (reply) => seen.replies.push({ url: reply.url(), status: reply.status() }));
  to.on('console', (message) => {
    const kind = { error: 'errors', warning: 'warnings' }[message.type()];
    if (kind) seen[kind].push(`${message.text()} (${message.location().url})`);
  });
  to.on('pageerror', (error) => seen.errors.push(String(error.stack || error)));
}

// Nothing on its way, and two pictures in a row that are the same.
async function idle() {
  const deadline = Date.now() + IDLE_MS;
  let last = null;
  while (Date.now() < deadline) {
    await page.waitForTimeout(60);
    if (seen.inFlight.size > 0 || Date.now() - seen.quietSince < QUIET_MS) {
      last = null;
      continue;
    }
    const now = await page.screenshot();
    if (last && now.equals(last) && seen.inFlight.size === 0) {
      picture = now;
      return;
    }
    last = now;
  }
  const waiting = [...seen.inFlight].map((request) => request.url());
  throw new Error(`not idle after ${IDLE_MS} ms, waiting for ${JSON.stringify(waiting.slice(0, 4))}`);
}

const commands = {
  async open({ url, width, height, ratio }) {
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: ratio });
    page = await context.newPage();
    watch(page);
    await page.goto(url, { timeout: OPEN_MS });
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('the viewer did not open the image')), OPEN_MS);
    });
    await Promise.race([page.evaluate(() => window.opened.then(() => null)), late]);
    clearTimeout(timer);
    await idle();
  },
  async view({ x, y, scale }) {
    await page.evaluate(([x, y, scale]) => { window.view(x, y, scale); }, [x, y, scale]);
    await idle();
  },
  // As a person goes about: zooms in and out in haste over one place, then drags.
  async browse({ x, y, turns }) {
    await page.mouse.move(x, y);
    for (const by of turns) {
      await page.mouse.wheel(0, by);
      await page.waitForTimeout(40);
    }
    await page.mouse.down();
    await page.mouse.move(x - 90, y - 60, { steps: 5 });
    await page.mouse.up();
    await idle();
  },
  async shoot({ file }) {
    fs.writeFileSync(file, picture);
    return page.evaluate(() => window.area());
  },
  async report() {
    const { replies, failures, errors, warnings } = seen;
    return { replies, failures, errors, warnings };
  },
  async close() {
    await page.context().close();
    page = null;
  },
};

async function main() {
  browser = await chromium.launch({
    executablePath: process.argv[3],
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-color-profile=srgb',
      '--enable-unsafe-swiftshader', // WebGL without a graphics card
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  process.stdout.write(JSON.stringify({ value: browser.version() }) + '\n');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { command, ...how } = JSON.parse(line);
    let answer;
    try {
      answer = { value: (await commands[command](how)) ?? null };
    } catch (error) {
      answer = { error: String(error.message || error) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
  await browser.close();
}

main().catch((error) => {
  process.stdout.write(JSON.stringify({ error: String(error.message || error) }) + '\n');
  process.exit(1);
});
