/** Who is in the space, and adding somebody by name. */
import { call } from './api.js';
import { at, complain, keyedList, kindOf, make, say, showMark, takeValue } from './dom.js';
import { store } from './store.js';

const PAGE = 1000;
let known = [];

const showList = keyedList(at('member-list'), () => {
  const mark = make('span', { class: 'mark', 'aria-hidden': 'true' });
  const name = make('bdi', { class: 'name' });
  const what = make('span', { class: 'tag' });
  return {
    node: make('li', {}, mark, name, what),
    show({ member }) {
      showMark(mark, member);
      say(name, member.name);
      say(what, [kindOf(member), member.role === 'member' ? '' : member.role].filter(Boolean).join(' · '));
    },
  };
});

export function showMembers() {
  const space = store.spaces.get(store.current);
  if (!space) return toggle(false);
  const count = space.members.length;
  say(at('members-toggle'), count === 1 ? '1 member' : `${count} members`);
  showList(space.members.map((member) => ({ key: member.id, member })));
  at('add-member').hidden = space.role !== 'admin';
}

function toggle(open) {
  if (open === !at('members').hidden) return;
  at('members').hidden = !open;
  at('members-toggle').setAttribute('aria-expanded', String(open));
}

function close() {
  toggle(false);
  at('members-toggle').focus();
}

at('members-toggle').addEventListener('click', () => toggle(at('members').hidden));
at('members-close').addEventListener('click', close);
at('members').addEventListener('keydown', (event) => event.key === 'Escape' && close());
at('add-member-name').addEventListener('focus', () => offerNames().catch(complain));

at('add-member').addEventListener('submit', async (event) => {
  event.preventDefault();
  const name = takeValue(at('add-member-name'));
  try {
    await add(name);
  } catch (error) {
    complain(error);
    at('add-member-name').value ||= name;
  }
});

async function offerNames() {
  known = await everybody();
  const members = new Set(store.spaces.get(store.current)?.members.map((member) => member.id));
  const others = known.filter((entity) => !members.has(entity.id));
  at('known-names').replaceChildren(
    ...others.map((entity) => make('option', { value: entity.name, label: kindOf(entity) || 'person' })),
  );
}

async function everybody() {
  const found = [];
  for (let page; !page || page.length === PAGE; found.push(...page)) {
    page = await call('GET', `/api/entities?limit=${PAGE}${found.length ? `&after=${found.at(-1).id}` : ''}`);
  }
  return found;
}

async function add(name) {
  const same = (entity) => fold(entity.name) === fold(name);
  const entity = known.find(same) ?? (known = await everybody()).find(same);
  if (!entity) throw new Error(`Nobody here is called “${name}”.`);
  await call('POST', `/api/spaces/${store.current}/members`, { entityId: entity.id });
}

/** As the gateway compares names: case and width make no difference. */
const fold = (name) => name.normalize('NFKC').toLowerCase();
