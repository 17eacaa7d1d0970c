/** Writing: Enter sends, Shift + Enter begins a line, and each space keeps what was begun in it. */
import { at } from './dom.js';
import { send } from './sending.js';
import { logOf, store } from './store.js';
import { scrollToEnd } from './timeline.js';

const field = at('text');
let shown = null;

export function showComposer() {
  const space = store.spaces.get(store.current);
  if (!space) return (shown = null);
  at('composer').hidden = space.role === 'viewer';
  at('viewer').hidden = space.role !== 'viewer';
  field.placeholder = `Message ${space.name}`;
  if (shown === space.id) return;
  shown = space.id;
  field.value = logOf(space.id).draft;
  grow();
  // Not on a touch screen, where it would open the keyboard over what one came to read.
  if (matchMedia('(pointer: fine)').matches) field.focus({ preventScroll: true });
}

at('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  if (!field.value.trim()) return;
  send(store.current, field.value.trimEnd());
  field.value = '';
  kept();
  scrollToEnd();
  field.focus();
});

field.addEventListener('keydown', (event) => {
  // While an input method is composing, Enter chooses a word.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  at('composer').requestSubmit();
});

field.addEventListener('input', kept);

function kept() {
  if (shown) logOf(shown).draft = field.value;
  grow();
}

function grow() {
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
}
