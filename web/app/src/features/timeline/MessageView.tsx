import type { Message, SpaceState } from '@majlis/client'
import { useMe } from '@majlis/client/react'
import { useRef } from 'react'

import { t } from '../../language/words.ts'
import { Files } from '../files/Files.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { useFoundWords } from '../switcher/foundWords.ts'
import { fullTime } from '../../ui/time.ts'
import { Collapsible } from './Collapsible.tsx'
import { undoDeletion, useIsLeaving } from './deletions.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageFrame } from './MessageFrame.tsx'
import { MessageTime } from './MessageTime.tsx'
import { Origin } from './Origin.tsx'
import { Quote } from './Quote.tsx'
import { Reactions } from './Reactions.tsx'

interface Props {
  message: Message
  first: boolean
  space: SpaceState
  names: readonly string[]
  target: boolean
  /** Never folded: it is the newest message, or it arrived while the space was on screen. */
  open: boolean
  onReply: (message: Message) => void
}

export function MessageView({ message, first, space, names, target, open, onReply }: Props) {
  const me = useMe()
  const body = useRef<HTMLDivElement>(null)
  useFoundWords(body, message.id, target)
  const leaving = useIsLeaving(message.id) && !message.deletedAt
  const time = <MessageTime at={message.createdAt} />
  return (
    <MessageFrame
      sender={message.sender}
      first={first}
      aside={time}
      gutter={time}
      className={target ? 'animate-mark motion-reduce:bg-mark' : ''}
      actions={<MessageActions message={message} onReply={onReply} />}
    >
      {leaving && <p className="text-ink-soft italic">{t('Message deleted.')} <button type="button" className="rounded-sm text-link underline underline-offset-4" onClick={() => undoDeletion(message.id)}>{t('Undo')}</button></p>}
      {message.deletedAt && <p className="text-ink-soft italic">{t('Deleted by {name}', { name: message.deletedBy?.name ?? message.sender.name })}</p>}
      {message.origin && <Origin message={message} />}
      {message.replyTo && <Quote spaceId={message.spaceId} messageId={message.replyTo} history={space.history} />}
      <div ref={body}>
      {!message.deletedAt && !leaving && message.text && (
        <Collapsible id={message.id} text={message.text} open={open || target}>
          {(shown) => <Markdown text={shown} names={names} me={me?.name ?? ''} />}
        </Collapsible>
      )}
      </div>
      {!leaving && message.files && message.files.length > 0 && <Files files={message.files} />}
      {message.editedAt && !message.deletedAt && <p className="text-tiny text-ink-soft" title={fullTime(message.editedAt)}>{t('Edited')}</p>}
      {message.crossed && !message.deletedAt && <p className="text-tiny text-ink-soft" title={t('When this was posted, the agent had not read the message before it.')}>{t('Crossed another message')}</p>}
      {message.pinned && <p className="text-tiny text-ink-soft">{t('Pinned')}</p>}
      <Reactions message={message} />
      {message.stoppedBy && <p className="mt-1 text-small text-ink-soft italic">{t('Stopped by {name}', { name: message.stoppedBy.name })}</p>}
    </MessageFrame>
  )
}
