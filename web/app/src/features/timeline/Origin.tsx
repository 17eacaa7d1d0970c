import type { Message } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { msg, rich, t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { Link } from '../../ui/Link.tsx'
import { lineOf } from '../markdown/plainText.ts'

const Why = lazyPart(() => import('../inspector/Why.tsx'))

const EVENTS = {
  plan: msg('Because of a plan'),
  service: msg('Because of an event from a service'),
  card: msg('Because of an answer to a card'),
  heartbeat: msg('Because of a scheduled wake-up'),
}

/** Names what an agent responds to if that is not in this space, and opens the chain of causes (F6). */
export function Origin({ message }: { message: Message }) {
  const [open, setOpen] = useState(false)
  const { kind } = message.origin!
  return (
    <div className="text-small text-ink-soft">
      <p className="flex items-baseline gap-2">
        <span className="line-clamp-1 wrap-anywhere italic">{kind ? t(EVENTS[kind]) : <Source message={message} />}</span>
        <button type="button" aria-expanded={open} className="shrink-0 rounded-sm underline underline-offset-4 hover:text-ink" onClick={() => setOpen(!open)}>{t('Why')}</button>
      </p>
      {open && <div className="my-1 border-s-2 border-line ps-3"><Why messageId={message.id} /></div>}
    </div>
  )
}

/** The message in another space. Readers without access to that space get no details (M14). */
function Source({ message }: { message: Message }) {
  const store = useStore()
  const { sourceSpace = '', sourceEvent = '' } = message.origin!
  const place = useMajlis((state) => state.spaces[sourceSpace]?.facts.name ?? null)
  const [source, setSource] = useState<Message | null>(null)
  useEffect(() => {
    if (place && sourceEvent) store.client.messages.get(sourceEvent).then(setSource, () => {})
  }, [store, place, sourceEvent])
  if (!place) return <>{t('In response to activity in another space')}</>
  return (
    <>
      {rich(source ? msg('In response to {name} in {space}') : msg('In response to activity in {space}'), {
        name: <bdi>{source?.sender.name}</bdi>,
        space: <Link href={messagePath(sourceSpace, sourceEvent)} className="underline underline-offset-4 hover:text-ink">{place}</Link>,
      })}
      {source && <>: “<bdi>{lineOf(source).slice(0, 80)}</bdi>”</>}
    </>
  )
}
