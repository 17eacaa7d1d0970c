import type { Message, SpaceState } from '@majlis/client'
import { useMe } from '@majlis/client/react'

import { Folded } from './Collapsible.tsx'
import { fullTime, timeOf } from '../../ui/time.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { Frame } from './MessageFrame.tsx'
import { MessageTools } from './MessageActions.tsx'
import { Origin } from './Origin.tsx'
import { Quote } from './Quote.tsx'

interface Props {
  message: Message
  first: boolean
  space: SpaceState
  names: readonly string[]
  target: boolean
  onReply: (message: Message) => void
}

export function MessageView({ message, first, space, names, target, onReply }: Props) {
  const me = useMe()
  const time = (
    <time dateTime={message.createdAt} title={fullTime(message.createdAt)} className="shrink-0 text-tiny text-ink-soft tabular-nums">
      {timeOf(message.createdAt)}
    </time>
  )
  return (
    <Frame
      sender={message.sender}
      first={first}
      aside={time}
      gutter={time}
      className={target ? 'bg-mark hover:bg-mark' : ''}
      tools={<MessageTools message={message} onReply={onReply} />}
    >
      {message.origin && <Origin message={message} />}
      {message.replyTo && <Quote spaceId={message.spaceId} messageId={message.replyTo} history={space.history} />}
      <Folded text={message.text}>
        {(shown) => <Markdown text={shown} names={names} me={me?.name ?? ''} />}
      </Folded>
    </Frame>
  )
}
