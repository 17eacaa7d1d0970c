export interface Line {
  kind: 'same' | 'removed' | 'added'
  text: string
}

const MOST = 400

/** A line diff: common start and end, and the longest common subsequence between them. A very long middle counts as replaced. */
export function diff(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const same = (lines: string[]): Line[] => lines.map((text) => ({ kind: 'same', text }))
  return [
    ...same(b.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(b.slice(b.length - end)),
  ]
}

function middle(a: string[], b: string[]): Line[] {
  if (a.length > MOST || b.length > MOST) return [...marked('removed', a), ...marked('added', b)]
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) lines.push({ kind: 'same', text: b[j]! }), i++, j++
    else if (common[i + 1]![j]! >= common[i]![j + 1]!) lines.push({ kind: 'removed', text: a[i++]! })
    else lines.push({ kind: 'added', text: b[j++]! })
  }
  return [...lines, ...marked('removed', a.slice(i)), ...marked('added', b.slice(j))]
}

const marked = (kind: Line['kind'], lines: string[]): Line[] => lines.map((text) => ({ kind, text }))
