import type { Failure } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { plural, t } from '../../language/words.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { brief, useNow } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { Section } from './Home.tsx'

const RELOAD_MS = 60_000

/** Agents whose runs failed in the last day, in any space, with the newest reason. For administrators. */
export function Failures() {
  const { client } = useStore()
  const minute = Math.floor(useNow() / RELOAD_MS)
  const { data } = useQuery('failures', () => client.failures(), String(minute))
  const agents = [...new Set(data?.map((each) => each.agentId))]
  if (!data || agents.length === 0) return null
  return <Section title={t('Agents that couldn’t answer')}>{agents.map((id) => <Row key={id} all={data.filter((each) => each.agentId === id)} />)}</Section>
}

function Row({ all }: { all: readonly Failure[] }) {
  const { agentId, agentName, error, endedAt } = all[0]!
  return (
    <li>
      <Link href={`/admin/agents/${agentId}`} className="flex items-center gap-3 px-4 py-2.5 hover:bg-hover">
        <Avatar id={agentId} name={agentName} type="agent" />
        <span className="min-w-0 flex-1">
          <span className="block truncate"><b className="font-semibold"><bdi>{agentName}</bdi></b> <span className="text-small text-ink-soft">{plural(all.length, '{n} failed run', '{n} failed runs')}{dot()}{brief(endedAt)}</span></span>
          {error && <span dir="auto" className="line-clamp-2 text-along text-small text-bad">{error.message}</span>}
        </span>
        <span className="shrink-0 text-small text-link">{t('Open settings')}</span>
      </Link>
    </li>
  )
}
