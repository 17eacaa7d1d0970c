/** Sending: shown at once, matched with the stored message by clientId, and kept with a way to retry if it failed. */
import { call, newClientId } from './api.js';
import { changed, logOf, take } from './store.js';

export function send(spaceId, text) {
  const draft = { clientId: newClientId(), text, createdAt: new Date().toISOString(), failure: null };
  logOf(spaceId).pending.push(draft);
  deliver(spaceId, draft);
}

/** A repeated clientId finds the message it made the first time, so a retry never says anything twice. */
export function deliver(spaceId, draft) {
  draft.failure = null;
  const log = logOf(spaceId);
  // One after the other, so that messages arrive in the order they were written in.
  log.sending = Promise.resolve(log.sending).then(() => post(spaceId, draft));
  changed();
}

export function discard(spaceId, draft) {
  const log = logOf(spaceId);
  log.pending = log.pending.filter((other) => other !== draft);
  changed();
}

async function post(spaceId, draft) {
  try {
    take(await call('POST', `/api/spaces/${spaceId}/messages`, { text: draft.text, clientId: draft.clientId }));
  } catch (error) {
    draft.failure = error.message;
  }
  changed();
}
