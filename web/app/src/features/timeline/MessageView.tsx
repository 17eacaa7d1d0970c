import type { Message, SpaceState } from '@majlis/client'
import { useMe } from '@majlis/client/react'

import { Markdown } from '../markdown/Markdown.tsx'
import { Collapsible } from './Collapsible.tsx'
import { MessageActions } from './MessageActions.tsx'
import { MessageFrame } from './MessageFrame.tsx'
import { MessageTime } from './MessageTime.tsx'
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
  const time = <MessageTime at={message.createdAt} />
  return (
    <MessageFrame
      sender={message.sender}
      first={first}
      aside={time}
      gutter={time}
      className={target ? 'bg-mark hover:bg-mark' : ''}
      actions={<MessageActions message={message} onReply={onReply} />}
    >
      {message.origin && <Origin message={message} />}
      {message.replyTo && <Quote spaceId={message.spaceId} messageId={message.replyTo} history={space.history} />}
      <Collapsible text={message.text}>
        {(shown) => <Markdown text={shown} names={names} me={me?.name ?? ''} />}
      </Collapsible>
    </MessageFrame>
  )
}
