/** What a model was sent, cut into the blocks that it is made of, with the part that came out of the provider's cache. */
import type { Context } from '@majlis/client'

export interface Block {
  key: string
  role: string
  title: string
  text: string
  /** An estimate: characters in proportion to the tokens that the provider has counted. */
  tokens: number
  /** How many of its characters lie in the cached beginning. */
  cached: number
}

const HEADING = /^(?=[A-Z][A-Z ]{3,}(?: \(.*\))?:)/m

type Request = Pick<Context['requests'][number], 'messages' | 'tools'>

/** Tools come first: for a provider they are the beginning of the prompt, and so of what it has cached. */
export function blocksOf(request: Request, inputTokens: number, cachedTokens: number): Block[] {
  const tools = request.tools.length > 0 ? [{ role: 'tools', title: `${request.tools.length} tools`, text: JSON.stringify(request.tools, null, 1) }] : []
  const parts = numbered([...tools, ...request.messages.flatMap((message) => partsOf(message as Wire))])
  const whole = parts.reduce((sum, part) => sum + part.text.length, 0)
  const share = whole > 0 && inputTokens > 0 ? inputTokens / whole : 0.25
  const shaded = inputTokens > 0 ? (whole * cachedTokens) / inputTokens : 0
  let before = 0
  return parts.map((part) => {
    const cached = Math.max(0, Math.min(part.text.length, Math.round(shaded - before)))
    before += part.text.length
    return { ...part, tokens: Math.round(part.text.length * share), cached }
  })
}

/** The third SPACE HISTORY of one request is compared with the third of another. */
function numbered<Part extends { title: string }>(parts: Part[]): (Part & { key: string })[] {
  const seen = new Map<string, number>()
  return parts.map((part) => {
    const title = part.title.replace(/\d+/g, '')
    const n = (seen.get(title) ?? 0) + 1
    seen.set(title, n)
    return { ...part, key: `${title} ${n}` }
  })
}

export interface Wire {
  role?: string
  content?: unknown
  tool_calls?: unknown
}

function partsOf(message: Wire): { role: string; title: string; text: string }[] {
  const role = message.role ?? '?'
  const text = textOf(message)
  return text.split(HEADING).filter((part) => part.trim()).map((part) => ({
    role,
    title: /^([A-Z][A-Z ]{3,}(?: \(.*\))?):/.exec(part)?.[1] ?? role,
    text: part,
  }))
}

/** A message of the wire as text, with the calls in it. */
export function textOf({ content, tool_calls: calls }: Wire): string {
  const said = typeof content === 'string' ? content : Array.isArray(content) ? content.map(piece).join('') : content ? JSON.stringify(content, null, 2) : ''
  return calls ? `${said}\n${JSON.stringify(calls, null, 2)}` : said
}

const piece = (part: unknown): string => {
  const text = (part as { text?: unknown } | null)?.text
  return typeof text === 'string' ? text : JSON.stringify(part)
}
