import type { Sending, SpaceState } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'

import { Markdown } from '../markdown/Markdown.tsx'
import { Collapsible } from './Collapsible.tsx'
import { MessageFrame } from './MessageFrame.tsx'
import { Quote } from './Quote.tsx'

const WORDS = { sending: '', waiting: 'Waiting for a connection. It goes out by itself.', refused: 'Not sent.' }

/** A message on its way: shown at once, and kept until it has arrived or its author gives it up. */
export function OutgoingView({ sending, first, space, names }: { sending: Sending; first: boolean; space: SpaceState; names: readonly string[] }) {
  const store = useStore()
  const me = useMe()!
  const spaceId = space.facts.id
  const { status, clientId } = sending
  return (
    <MessageFrame sender={me} first={first}>
      {sending.replyTo && <Quote spaceId={spaceId} messageId={sending.replyTo} history={space.history} />}
      <div className={status === 'refused' ? '' : 'text-ink-soft'}>
        <Collapsible text={sending.text}>{(shown) => <Markdown text={shown} names={names} me={me.name} />}</Collapsible>
      </div>
      {status !== 'sending' && (
        <p role="status" className={`flex flex-wrap items-center gap-x-3 text-small ${status === 'refused' ? 'text-bad' : 'text-ink-soft'}`} title={sending.problem}>
          <span>{status === 'refused' && sending.problem ? `Not sent: ${sending.problem}` : WORDS[status]}</span>
          <button type="button" className="rounded-sm underline underline-offset-4" onClick={() => store.outbox.retry(spaceId, clientId)}>Send again</button>
          <button type="button" className="rounded-sm underline underline-offset-4" onClick={() => store.outbox.discard(spaceId, clientId)}>Delete</button>
        </p>
      )}
    </MessageFrame>
  )
}
