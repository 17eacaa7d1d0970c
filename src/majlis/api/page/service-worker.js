/**
 * Shows a page of its own while the server cannot be reached, and desktop notifications. It stores that page and which
 * messages it showed: the app and its data always come from the server, so they are never older than the server.
 *
 * The server puts `const VERSION` before this text. It changes with the files below.
 */
const PREFIX = 'majlis-offline-';
const CACHE = PREFIX + VERSION;
const NOTIFIED = 'majlis-notified';
const MOST_NOTIFIED = 50;
const OFFLINE = '/offline';
const FILES = [OFFLINE, '/page/offline.js', '/page/theme.js', '/page/pages.css', '/page/icon.svg', '/page/source-sans.woff2', '/page/source-serif.woff2'];

addEventListener('install', (event) => event.waitUntil(storeFiles()));
addEventListener('activate', (event) => event.waitUntil(takeOver()));

async function storeFiles() {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((path) => new Request(path, { cache: 'reload' })));
  await skipWaiting();
}

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  // The browser asks the server while it starts this worker.
  await registration.navigationPreload?.enable();
  await clients.claim();
}

addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(openPage(event));
  else if (FILES.includes(pathname)) event.respondWith(fetch(request).catch(() => caches.match(pathname)));
});

async function openPage(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    const page = await caches.match(OFFLINE);
    if (page) return page;
    throw error;
  }
}

addEventListener('push', (event) => event.waitUntil(showPushed(event.data.json())));
// From the app in a tab in the background.
addEventListener('message', (event) => event.waitUntil(show(event.data.show)));

async function showPushed(pushed) {
  const windows = await clients.matchAll({ type: 'window' });
  // Browsers allow a push without a notification only while a window is visible.
  if (!windows.some((each) => each.visibilityState === 'visible' && each.focused)) await show(pushed);
}

/** Once for each message, although a tab and a push may both have it. */
async function show({ title, body, tag, path }) {
  const notified = await caches.open(NOTIFIED);
  if (await notified.match(path)) return;
  await notified.put(path, new Response());
  const old = (await notified.keys()).slice(0, -MOST_NOTIFIED);
  await Promise.all(old.map((each) => notified.delete(each)));
  // The next message of a space replaces the one before, and is heard like it.
  await registration.showNotification(title, { body, tag, renotify: true, icon: '/page/icon-192.png', data: { path } });
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(showInApp(event.notification.data.path));
});

/** In a window that is open, or in a new one. */
async function showInApp(path) {
  const windows = await clients.matchAll({ type: 'window' });
  const open = windows.find((each) => each.visibilityState === 'visible') ?? windows[0];
  if (!open) return clients.openWindow(path);
  open.postMessage({ open: path });
  // Browsers allow this only after a click.
  return open.focus().catch(() => undefined);
}
