/** From messages to what is shown, one row each: days, the line before what is new, and messages in groups. */
import type { Message, Sending, Stream } from '@majlis/client'

import { dayKey } from '../../ui/time.ts'

export type Row =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'new'; key: string }
  | { kind: 'message'; key: string; message: Message; first: boolean }
  | { kind: 'sending'; key: string; sending: Sending; first: boolean }
  | { kind: 'stream'; key: string; stream: Stream }

// After a pause the name and time are worth repeating.
const GROUP_MS = 5 * 60_000

export function rowsOf(
  history: readonly Message[],
  sending: readonly Sending[],
  streams: readonly Stream[],
  newAfter: number | null,
  me: string,
): Row[] {
  const rows: Row[] = []
  let before: Message | null = null
  const days = new Set<string>()
  for (const message of history) {
    const sameDay = before !== null && dayKey(before.createdAt) === dayKey(message.createdAt)
    const beginsNew = newAfter !== null && message.seq > newAfter && (before?.seq ?? message.seq - 1) <= newAfter
    if (!sameDay) rows.push({ kind: 'day', key: dayRowKey(message, days), at: message.createdAt })
    if (beginsNew) rows.push({ kind: 'new', key: 'new' })
    const first = !sameDay || beginsNew || !goesOn(before, message)
    rows.push({ kind: 'message', key: keyOf(message, me), message, first })
    before = message
  }
  for (const stream of streams) rows.push({ kind: 'stream', key: stream.streamId, stream })
  sending.forEach((each, n) => {
    const first = n === 0 && (streams.length > 0 || before?.sender.id !== me || before.kind !== 'text')
    rows.push({ kind: 'sending', key: each.clientId, sending: each, first: first || each.replyTo !== undefined })
  })
  return rows
}

/** A day comes twice where the server's clock was set back. */
function dayRowKey({ createdAt, id }: Message, days: Set<string>): string {
  const day = dayKey(createdAt)
  const key = days.has(day) ? `day ${day} ${id}` : `day ${day}`
  days.add(day)
  return key
}

/** A message of one's own keeps its row when it is stored. Those of others may have the same `clientId` as any other. */
const keyOf = (message: Message, me: string): string => (message.sender.id === me ? message.clientId : null) ?? message.id

function goesOn(before: Message | null, message: Message): boolean {
  return (
    before !== null &&
    before.kind === 'text' &&
    message.kind === 'text' &&
    before.sender.id === message.sender.id &&
    message.replyTo === null &&
    message.origin === null &&
    Date.parse(message.createdAt) - Date.parse(before.createdAt) < GROUP_MS
  )
}
