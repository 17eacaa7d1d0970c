/** The chat: what is open, what is shown when something changes, and the few things that can be done around it. */
import { call } from './api.js';
import { showComposer } from './composer.js';
import { at, complain, say, showMark, takeValue } from './dom.js';
import { connect, disconnect } from './live.js';
import { showMembers } from './members.js';
import { enter, noticeArrival, noticeReading } from './reading.js';
import { byLiveliness, showSpaces } from './spaces.js';
import { MAX_PAGE, changed, follow, loadEarlier, logOf, onChange, store, unread } from './store.js';
import { showTimeline } from './timeline.js';

const roomy = matchMedia('(min-width: 45rem)');

onChange(() => {
  noticeArrival();
  choose();
  showSpaces();
  showFrame();
  showMembers();
  showTimeline();
  showComposer();
  noticeReading();
});

/** The address names the open space; a wide screen without one opens the liveliest. */
function choose() {
  if (!store.me) return;
  let wanted = location.hash.slice(1);
  if (wanted && !store.spaces.has(wanted)) {
    complain(new Error('That space is gone, or you are not a member of it.'));
    wanted = '';
  }
  if (!wanted && roomy.matches) wanted = byLiveliness()[0]?.id ?? '';
  if (wanted !== location.hash.slice(1)) history.replaceState(null, '', wanted ? `#${wanted}` : '/');
  if (wanted !== store.current) open(wanted);
}

function open(spaceId) {
  store.current = spaceId;
  if (!spaceId) return;
  enter(spaceId);
  // What waits, and a little of what was said before it.
  const count = Math.max(50, unread(store.spaces.get(spaceId)) + 20);
  if (!logOf(spaceId).loaded) loadEarlier(spaceId, Math.min(MAX_PAGE, count));
}

function showFrame() {
  const space = store.spaces.get(store.current);
  document.body.dataset.view = store.current ? 'space' : 'list';
  at('space').hidden = !space;
  at('welcome').hidden = Boolean(space) || !store.me;
  if (space) say(at('space-name'), space.name);
  if (!store.me) return;
  // Until now a form would have been sent the browser's own way.
  at('sidebar').inert = false;
  showMark(at('my-mark'), store.me);
  say(at('my-name'), store.me.name);
}

addEventListener('hashchange', changed);
addEventListener('beforeunload', (event) => {
  if ([...store.logs.values()].some((log) => log.pending.length)) event.preventDefault();
});

at('new-space').addEventListener('submit', async (event) => {
  event.preventDefault();
  const name = takeValue(at('new-space-name'));
  try {
    const space = await call('POST', '/api/spaces', { name });
    await follow(space.id);
    location.hash = space.id;
  } catch (error) {
    complain(error);
    at('new-space-name').value ||= name;
  }
});

at('sign-out').addEventListener('click', async () => {
  disconnect();
  try {
    await call('DELETE', '/api/session');
    location.replace('/');
  } catch (error) {
    complain(error);
    connect();
  }
});

connect();
