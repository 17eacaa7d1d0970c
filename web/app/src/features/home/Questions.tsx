import type { OpenWait } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { messagePath } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { brief } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { plainText } from '../markdown/plainText.ts'
import { ROW, Section } from './Home.tsx'

const asker = (wait: OpenWait) => wait.agentName ?? wait.askerName ?? ''

/** Questions of agents and programs that the user can answer. Cards are listed as decisions. */
export function Questions() {
  const { client } = useStore()
  const version = useMajlis((state) => `${Object.keys(state.agents.waiting).join(' ')} ${state.agents.waitChanges}`)
  const names = useMajlis((state) => state.spaces)
  const { data } = useQuery('questions', () => client.waits({ for: 'me' }), version)
  const open = data?.waits.filter((wait) => wait.kind !== 'card') ?? []
  if (open.length === 0) return null
  return (
    <Section title={t('Waiting for your reply')}>
      {open.map((wait) => (
        <li key={wait.id}>
          <Link href={messagePath(wait.spaceId, wait.messageId)} className={ROW}>
            <Avatar id={wait.agentId ?? wait.askerId ?? ''} name={asker(wait)} type={wait.agentId ? 'agent' : 'service'} />
            <span className="min-w-0 flex-1">
              <span dir="auto" className="block truncate text-along"><bdi className="font-semibold">{asker(wait)}</bdi> {plainText(wait.question)}</span>
              <span className="block truncate text-small text-ink-soft"><bdi>{names[wait.spaceId]?.facts.name}</bdi>{dot()}{brief(wait.startedAt)}{wait.need > 1 && `${dot()}${t('{part} of {whole} answered', { part: wait.answered.length, whole: wait.need })}`}</span>
            </span>
            <span className="text-small text-link">{wait.kind === 'ask' ? t('Answer') : t('Reply')}</span>
          </Link>
        </li>
      ))}
    </Section>
  )
}
