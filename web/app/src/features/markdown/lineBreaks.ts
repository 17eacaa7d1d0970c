/** A remark plugin: keeps single line breaks, which Markdown would turn into spaces. */
import type { Nodes, Root, RootContent, Text } from 'mdast'

export function lineBreaks() {
  return (tree: Root): void => visit(tree)
}

function visit(node: Nodes): void {
  if (!('children' in node)) return
  node.children.forEach(visit)
  node.children = (node.children as RootContent[]).flatMap((child) => (child.type === 'text' ? lines(child) : [child])) as typeof node.children
}

const lines = ({ value }: Text): RootContent[] =>
  value.split(/\r?\n|\r/).flatMap((line, n): RootContent[] => [...(n > 0 ? [{ type: 'break' } as const] : []), ...(line ? [{ type: 'text', value: line } as const] : [])])
