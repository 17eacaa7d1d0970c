/**
 * The messages of a space that are at hand: numbers without a hole, from somewhere to somewhere. What is before and
 * after follows from the numbers, since a space counts 1, 2, 3 … to its head.
 */
import type { Message } from '../types.ts'

/** Oldest first; never empty holes between two. */
export type History = readonly Message[]

export const hasEarlier = (history: History): boolean => (history[0]?.seq ?? 1) > 1
export const hasLater = (history: History, headSeq: number): boolean => (history.at(-1)?.seq ?? 0) < headSeq

/** One message, from an event or as the answer to sending it. Idempotent; what would leave a hole stays out. */
export function hear(history: History, message: Message): History {
  const first = history[0]
  if (first === undefined) return message.seq === 1 ? [message] : history
  const place = message.seq - first.seq
  if (place === history.length) return [...history, message]
  const known = history[place]
  return known && continues(message, known) ? history.with(place, message) : history
}

/** A page that touches or overlaps what is at hand; one that does not is left out. */
export function join(history: History, page: readonly Message[]): History {
  const first = history[0]
  const last = history.at(-1)
  if (!first || !last) return page
  const before = page.filter((message) => message.seq < first.seq)
  const after = page.filter((message) => message.seq > last.seq)
  const touchesBefore = before.at(-1)?.seq === first.seq - 1
  const touchesAfter = after[0]?.seq === last.seq + 1
  if (!touchesBefore && !touchesAfter) return history
  return [...(touchesBefore ? before : []), ...history, ...(touchesAfter ? after : [])]
}

/** A tool message gets its result later, under its old number; everything else stays as it was said. */
export function continues(message: Message, known: Message): boolean {
  return message.id === known.id && known.tool?.status === 'running'
}
