/** The spaces on the left: the liveliest first, each with its last words and how many messages wait. */
import { at, keyedList, make, say } from './dom.js';
import { store, unread } from './store.js';

const lastMoved = (space) => space.lastMessage?.createdAt ?? space.createdAt;

const showList = keyedList(at('spaces'), ({ key }) => {
  const name = make('bdi', { class: 'name' });
  const last = make('span', { class: 'last', dir: 'auto' });
  const badge = make('span', { class: 'badge' });
  const link = make('a', { href: `#${key}` }, name, badge, last);
  return {
    node: make('li', {}, link),
    show({ space }) {
      const waiting = unread(space);
      say(name, space.name);
      say(last, lastWords(space));
      say(badge, waiting > 99 ? '99+' : String(waiting));
      badge.hidden = !waiting;
      badge.setAttribute('aria-label', `${waiting} unread`);
      link.classList.toggle('unread', waiting > 0);
      if (space.id === store.current) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    },
  };
});

export const byLiveliness = () =>
  [...store.spaces.values()].sort((a, b) => lastMoved(b).localeCompare(lastMoved(a)));

export function showSpaces() {
  const spaces = byLiveliness();
  showList(spaces.map((space) => ({ key: space.id, space })));
  at('no-spaces').hidden = !store.me || spaces.length > 0;
  const waiting = spaces.reduce((sum, space) => sum + unread(space), 0);
  const open = store.spaces.get(store.current);
  document.title = (waiting ? `(${waiting}) ` : '') + (open ? `${open.name} · Majlis` : 'Majlis');
}

function lastWords({ lastMessage }) {
  if (!lastMessage) return 'Nothing said yet';
  const who = lastMessage.sender.id === store.me.id ? 'You' : lastMessage.sender.name;
  return `${who}: ${lastMessage.text.slice(0, 200)}`;
}
