import type { Message } from '@majlis/client'

import { lazyPart } from '../../ui/lazyPart.tsx'
import { fullTime } from '../../ui/time.ts'
import { noticeText } from './noticeText.ts'

export const FailedDeliveries = lazyPart(() => import('./FailedDeliveries.tsx'))

/** A message from the gateway itself, for example that a run failed. `attached`: shown below the message it is about. */
export function NoticeView({ message, attached = false }: { message: Message; attached?: boolean }) {
  return (
    <div className={`flex flex-wrap gap-x-4 gap-y-1 rounded-md border border-line bg-paper-low px-3 py-1.5 text-small text-ink-soft ${attached ? 'mt-1 ms-12' : 'mt-3'}`} title={fullTime(message.createdAt)}>
      <p className="min-w-48 flex-1 break-words" dir="auto">{noticeText(message.text)}</p>
      {message.replyTo && <FailedDeliveries spaceId={message.spaceId} messageId={message.replyTo} />}
    </div>
  )
}
