/** One row of the timeline: a day, the line above what is new, or a message. */
import { kindOf, make, say, showMark } from './dom.js';
import { deliver, discard } from './sending.js';

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

export const makeRow = (item) => MAKERS[item.kind](item);

const MAKERS = { day: makeDay, new: makeNew, message: makeMessage };

function makeDay() {
  const node = make('li', { class: 'day' });
  return { node, show: (item) => say(node, dayName(new Date(item.at))) };
}

function makeNew() {
  return { node: make('li', { class: 'new' }, make('span', {}, 'New')), show() {} };
}

function makeMessage({ message: { sender } }) {
  const mark = make('span', { class: 'mark', 'aria-hidden': 'true' });
  const name = make('bdi', { class: 'name' });
  const tag = make('span', { class: 'tag' }, kindOf(sender));
  const time = make('time', {});
  const text = make('div', { class: 'text', dir: 'auto' });
  const state = make('div', { class: 'state' });
  const node = make('li', {}, mark, make('div', { class: 'who' }, name, tag, time), text, state);
  let stated = '';
  return {
    node,
    show({ message, draft, spaceId, follows }) {
      const failure = draft?.failure;
      node.dataset.kind = message.kind;
      node.className = `message${follows ? ' follows' : ''}${draft && !failure ? ' sending' : ''}`;
      showMark(mark, message.sender);
      say(name, message.sender.name);
      say(time, CLOCK.format(new Date(message.createdAt)));
      time.dateTime = message.createdAt;
      time.title = MOMENT.format(new Date(message.createdAt));
      say(text, message.tool ? `${message.tool.name} · ${message.tool.status}` : message.text);
      if (stated !== (failure ?? '')) state.replaceChildren(...(failure ? failed(draft, spaceId) : []));
      stated = failure ?? '';
    },
  };
}

function failed(draft, spaceId) {
  return [
    make('span', { role: 'alert' }, `Not sent. ${draft.failure}`),
    make('button', { type: 'button', click: () => deliver(spaceId, draft) }, 'Retry'),
    make('button', { type: 'button', class: 'quiet', click: () => discard(spaceId, draft) }, 'Discard'),
  ];
}

function dayName(date) {
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (date.toDateString() === today.toDateString()) return 'Today';
  if (date.toDateString() === yesterday.toDateString()) return 'Yesterday';
  const year = date.getFullYear() === today.getFullYear() ? undefined : 'numeric';
  return date.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year });
}
