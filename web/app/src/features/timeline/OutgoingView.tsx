import type { OutgoingMessage, SpaceState } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { editAgain } from '../composer/editAgain.ts'
import { Files } from '../files/Files.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { Collapsible } from './Collapsible.tsx'
import { MessageFrame } from './MessageFrame.tsx'
import { Quote } from './Quote.tsx'

/** A message that is not stored yet: shown at once, until it is sent or deleted. */
export function OutgoingView({ outgoing, first, space, names }: { outgoing: OutgoingMessage; first: boolean; space: SpaceState; names: readonly string[] }) {
  const store = useStore()
  const me = useMe()!
  const spaceId = space.facts.id
  const { status, clientId, problem } = outgoing
  return (
    <MessageFrame sender={me} first={first}>
      {outgoing.replyTo && <Quote spaceId={spaceId} messageId={outgoing.replyTo} history={space.history} />}
      <div className={status === 'refused' ? '' : 'text-ink-soft'}>
        <Collapsible id={clientId} text={outgoing.text} open>{(shown) => <Markdown text={shown} names={names} me={me.name} />}</Collapsible>
      </div>
      {outgoing.files && outgoing.files.length > 0 && <Files files={outgoing.files} />}
      {status !== 'sending' && (
        <p role="status" className={`flex flex-wrap items-center gap-x-3 text-small ${status === 'refused' ? 'text-bad' : 'text-ink-soft'}`} title={problem}>
          <span>{status === 'waiting' ? t('Will send when you’re back online.') : t('Not sent: {problem}', { problem: problem ?? '' })}</span>
          {status === 'waiting'
            ? <button type="button" className="rounded-sm underline underline-offset-4" onClick={() => store.outbox.retry(spaceId, clientId)}>{t('Retry')}</button>
            : <button type="button" className="rounded-sm underline underline-offset-4" onClick={() => editAgain(spaceId, outgoing)}>{t('Edit')}</button>}
          <button type="button" className="rounded-sm underline underline-offset-4" onClick={() => store.outbox.discard(spaceId, clientId)}>{t('Delete')}</button>
        </p>
      )}
    </MessageFrame>
  )
}
