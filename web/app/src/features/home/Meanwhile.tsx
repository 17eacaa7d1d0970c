import type { Run } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'

import { plural, t } from '../../language/words.ts'
import { spacePath } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { brief, useNow } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { triggerText } from '../inspector/runText.tsx'
import { plainText } from '../markdown/plainText.ts'
import { ROW, Section } from './Home.tsx'
import { awaySince } from './lastVisit.ts'

const RELOAD_MS = 60_000
const MOST_RUNS = 100

/** What agents did in the user's spaces while they were away: a row for each agent and space. */
export function Meanwhile() {
  const { client } = useStore()
  const me = useMe()!
  const spaces = useMajlis((state) => state.spaces)
  const minute = Math.floor(useNow() / RELOAD_MS)
  const since = awaySince(me.id)
  const { data } = useQuery('meanwhile', () => client.runs.list({ limit: MOST_RUNS }), String(minute))
  const ended = data?.runs.filter((run) => run.endedAt !== null && Date.parse(run.endedAt) >= since && spaces[run.trigger.spaceId ?? '']) ?? []
  const keys = [...new Set(ended.map(keyOf))]
  if (keys.length === 0) return null
  return (
    <Section title={t('What agents did')}>
      {keys.map((key) => <Row key={key} runs={ended.filter((run) => keyOf(run) === key)} />)}
    </Section>
  )
}

const keyOf = ({ agentId, trigger }: Run): string => `${agentId} ${trigger.spaceId}`

function Row({ runs }: { runs: readonly Run[] }) {
  const newest = runs[0]!
  const space = useMajlis((state) => state.spaces[newest.trigger.spaceId!]?.facts.name)
  const failed = runs.filter((run) => run.status === 'failed').length
  return (
    <li>
      <Link href={`${spacePath(newest.trigger.spaceId!)}?inspect=runs`} className={ROW}>
        <Avatar id={newest.agentId} name={newest.agentName} type="agent" />
        <span className="min-w-0 flex-1">
          <span className="block truncate">
            <bdi className="font-semibold">{newest.agentName}</bdi>{' '}
            <span className="text-small text-ink-soft">
              {plural(runs.length, '{n} run', '{n} runs')}{failed > 0 && <span className="text-bad">{dot()}{plural(failed, '{n} failed', '{n} failed')}</span>}{dot()}<bdi>{space}</bdi>{dot()}{brief(newest.endedAt!)}
            </span>
          </span>
          <span dir="auto" className="block truncate text-along text-small text-ink-soft">{plainText(triggerText(newest))}</span>
        </span>
      </Link>
    </li>
  )
}
