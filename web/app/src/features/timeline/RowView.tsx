import type { Message, SpaceState } from '@majlis/client'
import { memo } from 'react'

import { dayName, fullTime, useToday } from '../../ui/time.ts'
import { Card } from '../cards/Card.tsx'
import { MessageView } from './MessageView.tsx'
import { NoticeView } from './NoticeView.tsx'
import type { Row } from './rows.ts'
import { OutgoingView } from './OutgoingView.tsx'
import { StreamView } from './StreamView.tsx'
import { ToolView } from './ToolView.tsx'

interface Props {
  row: Row
  space: SpaceState
  names: readonly string[]
  target: boolean
  onReply: (message: Message) => void
}

export const RowView = memo(function RowView({ row, space, names, target, onReply }: Props) {
  switch (row.kind) {
    case 'day':
      return <Line><Day at={row.at} /></Line>
    case 'new':
      return <Line warm>New</Line>
    case 'outgoing':
      return <OutgoingView outgoing={row.outgoing} first={row.first} space={space} names={names} />
    case 'stream':
      return <StreamView stream={row.stream} space={space} names={names} />
    case 'message':
      if (row.message.kind === 'notice') return <NoticeView message={row.message} />
      if (row.message.tool?.ui) return <Card message={row.message} tool={row.message.tool} names={names} />
      if (row.message.kind === 'tool') return <ToolView message={row.message} />
      return <MessageView message={row.message} first={row.first} space={space} names={names} target={target} onReply={onReply} />
  }
}, sameRow)

/** Every change builds new row objects; most rows show the same as before. */
function sameRow(a: Props, b: Props): boolean {
  if (a.target !== b.target || a.names !== b.names || a.row.kind !== b.row.kind) return false
  if (a.row.kind === 'message' && b.row.kind === 'message') {
    const quoting = a.row.message.replyTo !== null && a.space.history !== b.space.history
    return a.row.message === b.row.message && a.row.first === b.row.first && !quoting
  }
  if (a.row.kind === 'stream' && b.row.kind === 'stream') return a.row.stream === b.row.stream
  return a.row.key === b.row.key && a.row.kind !== 'outgoing'
}

function Day({ at }: { at: string }) {
  useToday()
  return <time dateTime={at} title={fullTime(at)}>{dayName(at)}</time>
}

function Line({ children, warm = false }: { children: React.ReactNode; warm?: boolean }) {
  const colour = warm ? 'text-warm' : 'text-ink-soft'
  const rule = `h-px flex-1 ${warm ? 'bg-warm' : 'bg-line'}`
  return (
    <div className={`flex items-center gap-3 pt-5 pb-1 text-tiny font-semibold ${colour}`}>
      <span className={rule} />
      {children}
      <span className={rule} />
    </div>
  )
}
