/**
 * The live connection: subscribe first, then load, then apply what comes, one event after the other.
 *
 * After a cut it goes on from the last event; whatever goes wrong in between ends in loading everything afresh.
 */
import { call } from './api.js';
import { at } from './dom.js';
import { EVENTS, apply, load } from './store.js';

const BANNER_AFTER = 5000;
const MAX_WAIT = 8000;
const ASLEEP_AFTER = 30000;

let source, lastId, retry, warning;
let failures = 0;
let work = Promise.resolve();

export function connect() {
  disconnect();
  warning ??= setTimeout(() => (at('banner').hidden = false), BANNER_AFTER);
  const afresh = !lastId;
  source = new EventSource(lastId ? `/api/events?lastEventId=${encodeURIComponent(lastId)}` : '/api/events');
  on('connected', () => {
    then(async () => {
      if (afresh) await load();
      failures = 0;
      warning = clearTimeout(warning);
      at('banner').hidden = true;
    });
  });
  on('resync', () => then(load));
  for (const type of EVENTS) on(type, (event) => then(() => apply(JSON.parse(event.data))));
  source.onerror = () => {
    connectLater();
    call('GET', '/api/me').catch(() => {}); // notices a session that has ended
  };
}

export function disconnect() {
  clearTimeout(retry);
  source?.close();
}

function on(type, step) {
  source.addEventListener(type, (event) => {
    lastId = event.lastEventId;
    step(event);
  });
}

function then(step) {
  work = work.then(step).catch(() => {
    lastId = undefined;
    connectLater();
  });
}

function connectLater() {
  disconnect();
  retry = setTimeout(connect, Math.min(MAX_WAIT, 500 * 2 ** failures++) * (0.5 + Math.random() / 2));
}

/** A connection does not notice that its machine slept; a clock does. */
function noticeSleep() {
  let last = Date.now();
  setInterval(() => {
    if (Date.now() - last > ASLEEP_AFTER) connect();
    last = Date.now();
  }, 5000);
}

addEventListener('online', connect);
noticeSleep();
