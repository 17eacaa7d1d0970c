/** A remark plugin: HTML is shown as the sender typed it, so that `List<String>` keeps its tag. `<br>` is a line break. */
import type { Html, Nodes, PhrasingContent, Root, RootContent } from 'mdast'

const BLOCKS = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition'])
const BREAK = /^<br\s*\/?>$/i

export function literalHtml() {
  return (tree: Root): void => visit(tree)
}

function visit(node: Nodes): void {
  if (!('children' in node)) return
  node.children.forEach(visit)
  const shown = (html: Html): RootContent => (BLOCKS.has(node.type) ? { type: 'paragraph', children: [phrase(html)] } : phrase(html))
  node.children = (node.children as RootContent[]).map((child) => (child.type === 'html' ? shown(child) : child)) as typeof node.children
}

const phrase = ({ value }: Html): PhrasingContent => (BREAK.test(value) ? { type: 'break' } : { type: 'text', value })
