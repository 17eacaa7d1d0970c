/** A rehype plugin: wraps `@Name` of a member in an element, outside of code and links. */
import type { Element, ElementContent, Root, Text } from 'hast'

export interface Names {
  names: readonly string[]
  me: string
}

const SKIPPED = new Set(['code', 'pre', 'a'])

export function markMentions({ names, me }: Names) {
  if (names.length === 0) return () => {}
  const longestFirst = names.toSorted((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}_.])@(${longestFirst.join('|')})(?![\p{L}\p{N}_])`, 'giu')
  const mark = (name: string): Element => ({
    type: 'element',
    // The direction of the message does not depend on the name.
    tagName: 'bdi',
    properties: { className: name.toLocaleLowerCase() === me.toLocaleLowerCase() ? ['mention', 'mention-me'] : ['mention'] },
    children: [{ type: 'text', value: `@${name}` }],
  })
  const parts = (text: Text): ElementContent[] =>
    text.value.split(pattern).map((part, n) => (n % 2 === 1 ? mark(part) : { type: 'text', value: part }))
  const visit = (node: Root | Element): void => {
    node.children = node.children.flatMap((child) => {
      if (child.type === 'text' && child.value.includes('@')) return parts(child)
      if (child.type === 'element' && !SKIPPED.has(child.tagName)) visit(child)
      return [child]
    }) as typeof node.children
  }
  return visit
}
