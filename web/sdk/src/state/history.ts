/** The loaded messages of a space: a range without gaps. Messages are numbered 1, 2, 3 …, so the ends show what is missing. */
import type { Message } from '../types.ts'

/** Oldest first, without gaps. */
export type History = readonly Message[]

export const hasEarlier = (history: History): boolean => (history[0]?.seq ?? 1) > 1
export const hasLater = (history: History, headSeq: number): boolean => (history.at(-1)?.seq ?? 0) < headSeq

/** Adds a message from an event or a response. Idempotent; a message that would leave a gap is ignored. */
export function insert(history: History, message: Message): History {
  const first = history[0]
  if (first === undefined) return message.seq === 1 ? [message] : history
  const place = message.seq - first.seq
  if (place === history.length) return [...history, message]
  const known = history[place]
  return known && updates(message, known) ? history.with(place, message) : history
}

/** Adds a page that touches or overlaps the range; other pages are ignored. */
export function addPage(history: History, page: readonly Message[]): History {
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

/** A changed message is sent again under the same number: the higher revision wins. Earlier servers have no revisions. */
export function updates(message: Message, known: Message): boolean {
  const newer = (message.revision ?? 0) - (known.revision ?? 0)
  return message.id === known.id && (newer > 0 || (newer === 0 && known.tool?.status === 'running'))
}
