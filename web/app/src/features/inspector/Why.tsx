import type { Hop } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { msg, rich, t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { plainText } from '../markdown/plainText.ts'

const HIDDEN: Record<Hop['kind'], string> = {
  message: msg('a message in a space you don’t have access to'),
  card: msg('an answer in a space you don’t have access to'),
  plan: msg('a plan of the agent'),
  service: msg('an event from a service'),
  heartbeat: msg('a scheduled wake-up'),
}

/** What caused a message, the nearest cause first. */
export default function Why({ messageId }: { messageId: string }) {
  const { client } = useStore()
  const { data, problem } = useQuery(messageId, () => client.messages.why(messageId))
  if (!data || problem) return <QueryStatus problem={problem} />
  return (
    <ol className="space-y-2">
      {data.hops.map((hop, n) => (
        <li key={n}>
          <span className="text-ink-soft">{n === 0 ? t('Because of') : t('which was sent because of')}</span>{' '}
          <Cause hop={hop} />
        </li>
      ))}
    </ol>
  )
}

function Cause({ hop }: { hop: Hop }) {
  if (hop.hidden || hop.kind === 'heartbeat') return <>{t(HIDDEN[hop.kind])}</>
  if (!hop.messageId || !hop.spaceId) {
    return <>{hop.kind === 'plan' ? t('the plan “{text}”', { text: hop.text ?? '' }) : t('the event “{text}”', { text: hop.text ?? '' })}</>
  }
  return (
    <>
      {rich(hop.kind === 'card' ? msg('the question of {name} in {space}') : msg('the message of {name} in {space}'), {
        name: <bdi className="font-semibold">{hop.sender?.name}</bdi>,
        space: <Link href={messagePath(hop.spaceId, hop.messageId)} className="underline underline-offset-4 hover:text-ink">{hop.spaceName}</Link>,
      })}
      {hop.text && <span dir="auto" className="block break-words text-along text-ink-soft">“{plainText(hop.text).slice(0, 160)}”</span>}
    </>
  )
}
