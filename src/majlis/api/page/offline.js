/** Opens the page that the reader wanted as soon as the server answers. */

const EVERY_MS = 3000;

async function openIfReachable() {
  const answer = await fetch('/api/health/live', { cache: 'no-store' }).catch(() => null);
  if (answer?.ok) location.pathname === '/offline' ? location.replace('/') : location.reload();
}

addEventListener('online', openIfReachable);
setInterval(openIfReachable, EVERY_MS);
