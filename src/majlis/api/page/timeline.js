/** The messages of the open space, oldest to newest: what is shown, and where it is scrolled to. */
import { at, keyedList, say } from './dom.js';
import { makeRow } from './message.js';
import { head, loadEarlier, logOf, store, unread } from './store.js';

const GROUP_MILLIS = 5 * 60 * 1000;
const NEAR_END = 40;
const NEAR_START = 300;

const view = at('timeline');
const showList = keyedList(at('messages'), makeRow);
let shown = null; // the space whose place has been found
let atEnd = true;

export const isAtEnd = () => atEnd && shown === store.current && view.offsetParent !== null;

export function showTimeline() {
  const space = store.spaces.get(store.current);
  if (!space) return (shown = null);
  const log = logOf(space.id);
  const hold = shown === space.id && !atEnd && anchor();
  showList(itemsOf(space, log));
  at('earlier').hidden = !log.earlier || log.loading;
  at('no-messages').hidden = !log.loaded || log.messages.length + log.pending.length > 0;
  view.setAttribute('aria-busy', String(log.loading));
  if (shown !== space.id) findPlace(space.id, log);
  else if (hold) view.scrollTop += hold.node.getBoundingClientRect().top - hold.top;
  else scrollToEnd();
  showWayDown(space);
}

export function scrollToEnd() {
  view.scrollTop = view.scrollHeight;
  atEnd = true;
}

function itemsOf(space, log) {
  const items = [];
  let before = null;
  const put = (message, isNew, draft) => {
    const sameDay = before !== null && day(before) === day(message);
    if (!sameDay) items.push({ key: `day ${day(message)}`, kind: 'day', at: message.createdAt });
    if (isNew) items.push({ key: 'new', kind: 'new' });
    const grouped = sameDay && !isNew && follows(before, message);
    items.push({ key: keyOf(message), kind: 'message', message, draft, spaceId: space.id, follows: grouped });
    before = message;
  };
  for (const message of log.messages) put(message, log.divider !== null && message.seq === log.divider + 1);
  for (const draft of log.pending) put({ ...draft, sender: store.me, kind: 'text' }, false, draft);
  return items;
}

/** The same before and after it was stored, so that its row stays. */
const keyOf = (message) => (message.sender.id === store.me.id && message.clientId) || message.id;
const day = (message) => new Date(message.createdAt).toDateString();

function follows(before, message) {
  const gap = new Date(message.createdAt) - new Date(before.createdAt);
  return before.sender.id === message.sender.id && before.kind === 'text' && message.kind === 'text' && gap < GROUP_MILLIS;
}

/** The first message that can be seen: it stays where it is, whatever is put above it. */
function anchor() {
  const top = view.getBoundingClientRect().top;
  for (const node of at('messages').querySelectorAll('.message')) {
    const box = node.getBoundingClientRect();
    if (box.bottom > top) return { node, top: box.top };
  }
  return null;
}

/** On entering: at the first unread message if there is one, else at the end. */
function findPlace(spaceId, log) {
  scrollToEnd();
  if (!log.loaded) return;
  shown = spaceId;
  const line = at('messages').querySelector('.new');
  if (line) view.scrollTop = Math.min(view.scrollTop, line.offsetTop - view.clientHeight / 4);
  noticePlace();
}

function noticePlace() {
  atEnd = view.scrollHeight - view.scrollTop - view.clientHeight < NEAR_END;
}

function showWayDown(space) {
  const waiting = unread(space);
  at('to-newest').hidden = atEnd;
  say(at('to-newest'), waiting ? `${waiting} new ↓` : 'To the newest ↓');
}

view.addEventListener('scroll', () => {
  const space = store.spaces.get(store.current);
  if (!space || shown !== space.id) return;
  noticePlace();
  showWayDown(space);
  if (view.scrollTop < NEAR_START && head(space) > 0) loadEarlier(space.id);
});
at('earlier').addEventListener('click', () => loadEarlier(store.current));
at('to-newest').addEventListener('click', () => {
  scrollToEnd();
  at('to-newest').hidden = true;
});
new ResizeObserver(() => atEnd && scrollToEnd()).observe(view);
