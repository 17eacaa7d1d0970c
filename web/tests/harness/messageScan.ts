/** Reads the sources of the app: the messages they use, and English text that is not a message yet. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import { parseSync } from 'vite'

export const SOURCES = join(import.meta.dirname, '../../app/src')

export interface Found {
  /** The file and line. */
  at: string
  text: string
  /** It depends on a number. */
  plural: boolean
}

interface Node {
  type: string
  start: number
  [key: string]: unknown
}

/** Where the text of a message stands among the arguments. */
const MARKERS = new Map([['t', 0], ['msg', 0], ['rich', 0], ['plural', 2]])
/** Attributes and properties that hold no text for people. */
const CODE = new Set(['accept', 'autoComplete', 'className', 'dir', 'fill', 'href', 'htmlFor', 'id', 'key', 'kind', 'lang', 'loading', 'look', 'method', 'name', 'rel', 'role', 'sign', 'src', 'stroke', 'style', 'target', 'type', 'value', 'viewBox'])
/** Calls whose texts are not for people. */
const SILENT = new Set(['addEventListener', 'closest', 'get', 'includes', 'lines', 'matches', 'querySelector', 'querySelectorAll', 'removeEventListener', 'useQuery'])
/** Names of products, keys and code, which are the same in every language. */
const NAMES = new Set(['Alt + ↑ / ↓', 'Ctrl', 'Enter', 'Esc', 'GitHub', 'Majlis', 'Notification', 'Page Up', 'Shift + Enter', 'Standard Webhooks', 'Stripe', 'USD', 'from:', 'in:', 'before:2026-11-18', 'secret:'])

export function sourceFiles(ending = /\.tsx?$/): string[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !path.includes('.test.') && !path.startsWith('language/'))
    .map((path) => join(SOURCES, path))
    .toSorted()
}

/** `messages` are the keys of the catalogues; `literals` are texts that none of them can have. */
export function scan(path: string): { messages: Found[]; literals: Found[] } {
  const source = readFileSync(path, 'utf8')
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`)
  const messages: Found[] = []
  const literals: Found[] = []
  const found = (node: Node, text: string, plural = false): Found => ({ at: `${relative(SOURCES, path)}:${source.slice(0, node.start).split('\n').length}`, text, plural })
  let silent = 0
  const literal = (node: Node, text: string) => {
    if (silent === 0 && looksEnglish(text.trim(), node.type === 'JSXText')) literals.push(found(node, text.trim()))
  }

  /** For code, which can hold messages but no other text. */
  const visitSilently = (node: Node): void => {
    silent++
    visit(node)
    silent--
  }
  const visit = (node: Node): void => {
    // Types, except those that stand behind a value.
    if (/^TS(?!As|Satisfies|NonNull)/.test(node.type)) return
    const called = node.type === 'CallExpression' || node.type === 'NewExpression' ? nameOf(node['callee'] as Node) : ''
    const args = (node['arguments'] ?? []) as Node[]
    const marker = node.type === 'CallExpression' ? MARKERS.get(called) : undefined
    if (marker !== undefined) {
      messages.push(...textsOf(args[marker]!).map((each) => found(each, String(each['value']), called === 'plural')))
      return args.filter((arg) => textsOf(arg).length === 0).forEach(visit)
    }
    if (SILENT.has(called)) return args.forEach((arg) => (arg.type === 'Literal' || arg.type === 'TemplateLiteral' ? visitSilently(arg) : visit(arg)))
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ImportExpression':
      case 'TaggedTemplateExpression':
        return
      case 'BinaryExpression':
        // A comparison with a value of a program.
        if (/^[!=]==?$/.test(String(node['operator']))) return
        break
      case 'SwitchCase':
        return (node['consequent'] as Node[]).forEach(visit)
      case 'JSXAttribute':
        if (!CODE.has(nameOf(node['name'] as Node))) break
        return isNode(node['value']) ? visitSilently(node['value']) : undefined
      case 'Property':
        if (node['computed']) visit(node['key'] as Node)
        return CODE.has(nameOf(node['key'] as Node)) ? visitSilently(node['value'] as Node) : visit(node['value'] as Node)
      case 'MemberExpression':
        return visit(node['object'] as Node)
      case 'JSXText':
      case 'Literal':
        if (typeof node['value'] === 'string') literal(node, node['value'])
        return
      case 'TemplateLiteral':
        literal(node, (node['quasis'] as { value: { cooked: string } }[]).map((each) => each.value.cooked).join('…'))
    }
    Object.values(node).flat().filter(isNode).forEach(visit)
  }
  visit(program as unknown as Node)
  return { messages, literals }
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'

/** A text, or the two of a condition. */
function textsOf(node: Node): Node[] {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return [node]
  if (node.type !== 'ConditionalExpression') return []
  const [one, other] = [textsOf(node['consequent'] as Node), textsOf(node['alternate'] as Node)]
  return one.length > 0 && other.length > 0 ? [...one, ...other] : []
}

/** The name of a call, an attribute or a property. */
function nameOf(node: Node): string {
  return node.type === 'MemberExpression' ? nameOf(node['property'] as Node) : String(node['name'] ?? node['value'] ?? '')
}

/** A word that starts a sentence or a label, or two words. In JSX every word is text. */
function looksEnglish(text: string, inMarkup: boolean): boolean {
  if (NAMES.has(text)) return false
  if (inMarkup) return /\p{L}{2}/u.test(text)
  if (/^…? ?[A-Z][a-z]+(?:[ ,.…?!’']|$)/.test(text)) return true
  // Classes and other code have hyphens, colons, slashes or brackets.
  return /(?:^|\s)[a-z’']{2,}[,.…?!]? [a-z’']{2,}/i.test(text) && !/[-:[\]/_=#|]/.test(text)
}
