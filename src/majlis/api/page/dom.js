/** Elements made from text alone. Nothing on this page reads a string as HTML, so nothing that is said can run. */

export const at = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Left alone when it is the same already: a selection in it survives. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A list that keeps one row for each key, so that focus, selection and scrolling survive a change. */
export function keyedList(parent, makeRow) {
  let rows = new Map();
  return (items) => {
    const next = new Map();
    for (const item of items) {
      const row = rows.get(item.key) ?? makeRow(item);
      row.show(item);
      next.set(item.key, row);
    }
    for (const [key, row] of rows) if (!next.has(key)) row.node.remove();
    rows = next;
    let place = parent.firstChild;
    for (const { node } of next.values()) {
      if (node === place) place = place.nextSibling;
      else parent.insertBefore(node, place);
    }
  };
}

const KINDS = { human: '', agent: 'agent', service: 'service' };

/** A person's mark is round, an agent's and a service's are not, and those two say what they are. */
export function showMark(node, who) {
  node.dataset.type = who.type;
  node.dataset.tone = [...who.id].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 997, 7) % 6;
  say(node, [...who.name][0].toUpperCase());
}

export const kindOf = (who) => KINDS[who.type] ?? who.type;

/** For a new attempt. Emptied at once: a second Enter does nothing twice, and what is typed meanwhile is not lost. */
export function takeValue(field) {
  forgive();
  const value = field.value.trim();
  field.value = '';
  return value;
}

let fading;

/** Something went wrong: said once, where everybody sees and hears it. */
export function complain(error) {
  at('complaint').textContent = error.message;
  at('complaint').hidden = false;
  clearTimeout(fading);
  fading = setTimeout(forgive, 8000);
}

function forgive() {
  at('complaint').hidden = true;
}
