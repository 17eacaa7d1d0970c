/** Turns messages into rows: day separators, the "New" line, grouped messages, and notices at the message they are about. */
import type { Message, OutgoingMessage, Stream } from '@majlis/client'

import { dayKey } from '../../ui/time.ts'

export type Row =
  | { kind: 'day'; key: string; at: string }
  | { kind: 'new'; key: string }
  | { kind: 'message'; key: string; message: Message; first: boolean; notices: readonly Message[]; lastSeq: number }
  | { kind: 'outgoing'; key: string; outgoing: OutgoingMessage; first: boolean }
  | { kind: 'stream'; key: string; stream: Stream }

// After a pause the sender's name and time are shown again.
const GROUP_MS = 5 * 60_000

const NONE: readonly Message[] = []

export function rowsOf(
  history: readonly Message[],
  outgoing: readonly OutgoingMessage[],
  streams: readonly Stream[],
  newAfter: number | null,
  me: string,
): Row[] {
  const rows: Row[] = []
  let before: Message | null = null
  let lastDay = ''
  const days = new Set<string>()
  const owners = new Map<string, Extract<Row, { kind: 'message' }>>()
  for (const message of history) {
    const owner = message.kind === 'notice' && message.replyTo !== null ? owners.get(message.replyTo) : undefined
    if (owner) {
      owner.notices = [...owner.notices, message]
      const last = rows.at(-1)
      if (last?.kind === 'message') last.lastSeq = message.seq
      continue
    }
    const day = dayKey(message.createdAt)
    const sameDay = before !== null && day === lastDay
    const startsNew = newAfter !== null && message.seq > newAfter && (before?.seq ?? message.seq - 1) <= newAfter
    if (!sameDay) rows.push({ kind: 'day', key: dayRowKey(day, message.id, days), at: message.createdAt })
    if (startsNew) rows.push({ kind: 'new', key: 'new' })
    const first = !sameDay || startsNew || !continuesGroup(before, message)
    const row: Row = { kind: 'message', key: keyOf(message, me), message, first, notices: NONE, lastSeq: message.seq }
    owners.set(message.id, row)
    rows.push(row)
    before = message
    lastDay = day
  }
  for (const stream of streams) rows.push({ kind: 'stream', key: stream.streamId, stream })
  outgoing.forEach((each, n) => {
    const first = n === 0 && (streams.length > 0 || before?.sender.id !== me || before.kind !== 'text')
    rows.push({ kind: 'outgoing', key: each.clientId, outgoing: each, first: first || each.replyTo !== undefined })
  })
  return rows
}

/** The same day can appear twice if the server's clock was set back. */
function dayRowKey(day: string, id: string, days: Set<string>): string {
  const key = days.has(day) ? `day ${day} ${id}` : `day ${day}`
  days.add(day)
  return key
}

/** The user's own message keeps its key when it is stored. A `clientId` is unique only per sender, so others use the id. */
const keyOf = (message: Message, me: string): string => (message.sender.id === me ? message.clientId : null) ?? message.id

/** A text or a tool call. Questions and notices stand alone. */
const isPlain = ({ kind, tool }: Message): boolean => kind === 'text' || (kind === 'tool' && !tool?.ui)

function continuesGroup(before: Message | null, message: Message): boolean {
  return (
    before !== null &&
    isPlain(before) &&
    isPlain(message) &&
    before.sender.id === message.sender.id &&
    message.replyTo === null &&
    message.origin === null &&
    Date.parse(message.createdAt) - Date.parse(before.createdAt) < GROUP_MS
  )
}
