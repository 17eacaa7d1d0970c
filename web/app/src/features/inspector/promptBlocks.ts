/** Splits a prompt into its blocks and marks the part that the provider had cached. */
import type { Context } from '@majlis/client'

import { plural } from '../../language/words.ts'


export interface Block {
  key: string
  role: string
  title: string
  text: string
  /** An estimate: the provider's count, divided in proportion to characters. */
  tokens: number
  /** How many of its characters were cached. */
  cached: number
}

const HEADING = /^(?=[A-Z][A-Z ]{2,}(?: \(.*\))?:)/m

type Request = Pick<Context['requests'][number], 'messages' | 'tools'>

/** Tools come first, as in the provider's cache. */
export function blocksOf(request: Request, inputTokens: number, cachedTokens: number): Block[] {
  const tools = request.tools.length > 0 ? [{ role: 'tools', title: plural(request.tools.length, '{n} tool', '{n} tools'), text: JSON.stringify(request.tools, null, 1) }] : []
  const parts = numbered([...tools, ...request.messages.flatMap((message) => partsOf(message as ProviderMessage))])
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

/** Numbers blocks of the same title: the third SPACE HISTORY is compared with the third one of the other prompt. */
function numbered<Part extends { title: string }>(parts: Part[]): (Part & { key: string })[] {
  const seen = new Map<string, number>()
  return parts.map((part) => {
    const title = part.title.replace(/\d+/g, '')
    const n = (seen.get(title) ?? 0) + 1
    seen.set(title, n)
    return { ...part, key: `${title} ${n}` }
  })
}

export interface ProviderMessage {
  role?: string
  content?: unknown
  tool_calls?: unknown
}

function partsOf(message: ProviderMessage): { role: string; title: string; text: string }[] {
  const role = message.role ?? '?'
  const text = textOf(message)
  return text.split(HEADING).filter((part) => part.trim()).map((part) => ({
    role,
    title: /^([A-Z][A-Z ]{2,}(?: \(.*\))?):/.exec(part)?.[1] ?? role,
    text: part,
  }))
}

/** A provider message as text, including its tool calls. */
export function textOf({ content, tool_calls: calls }: ProviderMessage): string {
  const text = typeof content === 'string' ? content : Array.isArray(content) ? content.map(piece).join('') : content ? JSON.stringify(content, null, 2) : ''
  return calls ? `${text}\n${JSON.stringify(calls, null, 2)}` : text
}

const piece = (part: unknown): string => {
  const text = (part as { text?: unknown } | null)?.text
  return typeof text === 'string' ? text : JSON.stringify(part)
}
