/**
 * What this page knows: my spaces, and the messages of those I have opened.
 *
 * Pages of history and live events may arrive in any order and more than once. Everything is kept by number, and
 * numbers only grow, so the result is the same.
 */
import { call } from './api.js';
import { complain } from './dom.js';

export const MAX_PAGE = 200;
export const store = { me: null, spaces: new Map(), logs: new Map(), current: null };

const listeners = [];
let due = false;

export const onChange = (listener) => listeners.push(listener);

export function changed() {
  if (due) return;
  due = true;
  queueMicrotask(() => {
    due = false;
    for (const listener of listeners) listener();
  });
}

/** Everything afresh. What was typed and not yet sent stays. */
export async function load() {
  const [me, spaces] = await Promise.all([call('GET', '/api/me'), call('GET', '/api/spaces')]);
  // Somebody else has signed in with this browser: nothing of the one before may stay.
  if (store.me && store.me.id !== me.id) location.reload();
  const open = spaces.find((space) => space.id === store.current);
  const page = open && (await call('GET', `/api/spaces/${open.id}/messages?limit=${MAX_PAGE}`));
  store.me = me;
  store.spaces = new Map(spaces.map((space) => [space.id, space]));
  for (const [id, { pending, draft, sending, divider }] of store.logs) {
    store.logs.set(id, { ...newLog(), pending, draft, sending, divider });
  }
  if (open) putPage(logOf(open.id), page);
  changed();
}

export const head = (space) => space.lastMessage?.seq ?? 0;
export const unread = (space) => Math.max(0, head(space) - space.lastSeenSeq);

/** Unsent messages, what is being typed, and since when there is news belong to this page; the rest is the server's. */
const newLog = () => ({
  messages: [], earlier: true, loading: false, loaded: false, pending: [], draft: '', divider: null, sending: null,
});

export function logOf(spaceId) {
  if (!store.logs.has(spaceId)) store.logs.set(spaceId, newLog());
  return store.logs.get(spaceId);
}

/** The newest messages at first, then the page before those. */
export async function loadEarlier(spaceId, limit = 50) {
  const log = logOf(spaceId);
  if (log.loading || !log.earlier) return;
  log.loading = true;
  changed();
  try {
    const before = log.loaded ? `&before=${log.messages[0].id}` : '';
    const page = await call('GET', `/api/spaces/${spaceId}/messages?limit=${limit}${before}`);
    putPage(log, page);
  } catch (error) {
    complain(error);
  }
  log.loading = false;
  changed();
}

/** What an event has told already is newer than a page that was asked for before it. */
function putPage(log, page) {
  const known = new Set(log.messages.map((message) => message.seq));
  merge(log, page.messages.filter((message) => !known.has(message.seq)));
  log.earlier = page.hasMore;
  log.loaded = true;
}

/** A message, from an event or as the answer to my own sending. */
export function take(message) {
  const space = store.spaces.get(message.spaceId);
  if (!space) return;
  if (message.seq >= head(space)) space.lastMessage = message;
  if (message.sender.id === store.me.id) space.lastSeenSeq = Math.max(space.lastSeenSeq, message.seq);
  if (store.logs.has(space.id)) merge(logOf(space.id), [message]);
}

function merge(log, messages) {
  const all = new Map(log.messages.map((message) => [message.seq, message]));
  for (const message of messages) all.set(message.seq, message);
  log.messages = [...all.values()].sort((a, b) => a.seq - b.seq);
  const arrived = new Set(messages.filter((m) => m.sender.id === store.me.id).map((m) => m.clientId));
  log.pending = log.pending.filter((draft) => !arrived.has(draft.clientId));
}

const applying = {
  'space.message': ({ message }) => take(message),
  'space.read': ({ spaceId, lastSeenSeq }) => {
    const space = store.spaces.get(spaceId);
    if (space) space.lastSeenSeq = Math.max(space.lastSeenSeq, lastSeenSeq);
  },
  'space.updated': ({ space }) => {
    if (store.spaces.has(space.id)) Object.assign(store.spaces.get(space.id), space);
  },
  'space.member.joined': async ({ spaceId, entityId, member }) => {
    if (entityId === store.me.id) await follow(spaceId);
    else putMember(spaceId, member);
  },
  'space.member.updated': ({ spaceId, member }) => putMember(spaceId, member),
  'space.member.left': ({ spaceId, entityId }) => {
    const space = store.spaces.get(spaceId);
    if (entityId === store.me.id) {
      store.spaces.delete(spaceId);
      store.logs.delete(spaceId);
    } else if (space) space.members = space.members.filter((member) => member.id !== entityId);
  },
};

export const EVENTS = Object.keys(applying);

export async function apply(event) {
  await applying[event.type](event);
  changed();
}

/** A space that I have made or joined. */
export async function follow(spaceId) {
  try {
    store.spaces.set(spaceId, await call('GET', `/api/spaces/${spaceId}`));
  } catch (error) {
    if (error.status !== 404) throw error; // 404: left again since
  }
  changed();
}

function putMember(spaceId, member) {
  const space = store.spaces.get(spaceId);
  if (!space) return;
  const place = space.members.findIndex((other) => other.id === member.id);
  if (place < 0) space.members.push(member);
  else space.members[place] = member;
  if (member.id === store.me.id) space.role = member.role;
  const said = [space.lastMessage, ...(store.logs.get(spaceId)?.messages ?? [])];
  for (const message of said) if (message?.sender.id === member.id) message.sender.name = member.name;
}
