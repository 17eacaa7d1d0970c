import type { Message, SpaceState } from '@majlis/client'
import { memo } from 'react'

import { t } from '../../language/words.ts'
import { dayName, fullTime, useToday } from '../../ui/time.ts'
import { Card } from '../cards/Card.tsx'
import { RepliesLink } from '../threads/RepliesLink.tsx'
import { MessageView } from './MessageView.tsx'
import { NoticeView } from './NoticeView.tsx'
import type { Row } from './rows.ts'
import { OutgoingView } from './OutgoingView.tsx'
import { StreamView } from './StreamView.tsx'
import { ToolView } from './ToolView.tsx'
import { Unsent } from './Unsent.tsx'

interface Props {
  row: Row
  space: SpaceState
  names: readonly string[]
  target: boolean
  /** Messages from this number on are not folded. */
  openFrom: number
  /** How many messages reply to it, for a message in the timeline. */
  replies: number
  /** There may be more replies, because later messages are not loaded. */
  partly: boolean
  onReply: (message: Message) => void
}

export const RowView = memo(function RowView({ row, space, names, target, openFrom, replies, partly, onReply }: Props) {
  switch (row.kind) {
    case 'day':
      return <Line><Day at={row.at} /></Line>
    case 'new':
      return <Line unread>{t('New')}</Line>
    case 'outgoing':
      return <OutgoingView outgoing={row.outgoing} first={row.first} space={space} names={names} />
    case 'stream':
      return <StreamView stream={row.stream} space={space} names={names} />
    case 'message':
      return (
        <>
          <Content row={row} space={space} names={names} target={target} openFrom={openFrom} onReply={onReply} />
          {replies > 0 && <div className="ms-12"><RepliesLink messageId={row.message.id} count={replies} more={partly} /></div>}
          {row.notices.map((notice) => <NoticeView key={notice.id} message={notice} attached />)}
          <Unsent messageId={row.message.id} />
        </>
      )
  }
}, sameRow)

function Content({ row, space, names, target, openFrom, onReply }: Omit<Props, 'replies' | 'partly'> & { row: Extract<Row, { kind: 'message' }> }) {
  const { message } = row
  if (message.kind === 'notice') return <NoticeView message={message} />
  if (message.tool?.ui) return <Card message={message} tool={message.tool} names={names} />
  if (message.kind === 'tool') return <ToolView message={message} first={row.first} />
  return <MessageView message={message} first={row.first} space={space} names={names} target={target} open={message.seq >= openFrom} onReply={onReply} />
}

/** Every change builds new row objects; most rows show the same as before. */
function sameRow(a: Props, b: Props): boolean {
  if (a.replies !== b.replies || a.partly !== b.partly) return false
  if (a.target !== b.target || a.names !== b.names || a.row.kind !== b.row.kind) return false
  if (a.row.kind === 'message' && b.row.kind === 'message') {
    const quoting = a.row.message.replyTo !== null && a.space.history !== b.space.history
    const [notices, others] = [a.row.notices, b.row.notices]
    const same = notices.length === others.length && notices.every((notice, n) => notice === others[n])
    return a.row.message === b.row.message && a.row.first === b.row.first && same && !quoting
  }
  if (a.row.kind === 'stream' && b.row.kind === 'stream') return a.row.stream === b.row.stream
  return a.row.key === b.row.key && a.row.kind !== 'outgoing'
}

function Day({ at }: { at: string }) {
  useToday()
  return <time dateTime={at} title={fullTime(at)}>{dayName(at)}</time>
}

function Line({ children, unread = false }: { children: React.ReactNode; unread?: boolean }) {
  const colour = unread ? 'text-unread' : 'text-ink-soft'
  const rule = `h-px flex-1 ${unread ? 'bg-unread' : 'bg-line'}`
  return (
    <div className={`flex items-center gap-3 pt-5 pb-1 text-tiny font-semibold ${colour}`}>
      <span className={rule} />
      {children}
      <span className={rule} />
    </div>
  )
}
