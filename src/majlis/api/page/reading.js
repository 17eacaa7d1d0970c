/** How far I have read: as far as the newest message, once it has been on a screen that somebody is looking at. */
import { call } from './api.js';
import { at } from './dom.js';
import { changed, head, logOf, store, unread } from './store.js';
import { isAtEnd } from './timeline.js';

let heard = 0; // up to where the arrival of messages in the open space was noticed

export const isReading = () => document.visibilityState === 'visible' && document.hasFocus() && isAtEnd();

export function noticeReading() {
  const space = store.spaces.get(store.current);
  if (space && unread(space) && isReading()) tell(space, space.lastMessage.seq, space.lastMessage.id);
}

/** Read here at once, so that no badge flickers. If it cannot be told it is unread again, until the next occasion. */
async function tell(space, seq, lastMessageId) {
  const before = space.lastSeenSeq;
  space.lastSeenSeq = seq;
  changed();
  try {
    await call('POST', `/api/spaces/${space.id}/read`, { lastMessageId });
  } catch {
    if (space.lastSeenSeq === seq) space.lastSeenSeq = before;
  }
}

/** On entering a space: the line stands above what is unread, and stays until one leaves. */
export function enter(spaceId) {
  const space = store.spaces.get(spaceId);
  logOf(spaceId).divider = unread(space) ? space.lastSeenSeq : null;
  heard = head(space);
}

/** What comes while nobody looks gets the line too; what comes at all is read out. */
export function noticeArrival() {
  const space = store.spaces.get(store.current);
  if (!space || head(space) <= heard) return;
  heard = head(space);
  if (space.lastMessage.sender.id === store.me.id) return;
  at('heard').textContent = `${space.lastMessage.sender.name}: ${space.lastMessage.text.slice(0, 500)}`;
  const log = logOf(space.id);
  if (!isReading() && (log.divider ?? -1) < space.lastSeenSeq) log.divider = space.lastSeenSeq;
}

addEventListener('focus', noticeReading);
document.addEventListener('visibilitychange', noticeReading);
at('timeline').addEventListener('scroll', noticeReading);
