import type { SpaceState } from '@majlis/client'
import { usePendingTools, useRuns, useStreams } from '@majlis/client/react'

import { plural, t } from '../../language/words.ts'
import { go, inspect, messagePath } from '../../router.ts'
import { dot } from '../../ui/format.ts'
import { Stop } from '../../ui/icons.tsx'
import { hueOf } from '../../ui/Avatar.tsx'
import { duration, useNow } from '../../ui/time.ts'
import { activityOf, type Activity } from './activity.ts'
import { TypingPeople } from './TypingPeople.tsx'
import { useStopRun } from './useStopRun.ts'

const SHOWN = 3

/** One line about the agents of this space: those that need a decision first, then those at work, then those that wait. People who are writing come last. */
export function ActiveAgents({ space }: { space: SpaceState }) {
  const { working, waiting } = useRuns(space.facts.id)
  const writing = new Set(useStreams(space.facts.id).filter((stream) => stream.tool === null).map((stream) => stream.agentId))
  const all = activityOf(working, waiting, usePendingTools(space.facts.id), writing)
  const nameOf = (id: string) => space.members.find((member) => member.id === id)?.name ?? t('An agent')
  return (
    <ul aria-label={t('Active agents')} className="mx-auto mb-1 flex h-6 w-full max-w-messages shrink-0 items-center gap-x-5 overflow-hidden px-4 text-small text-ink-soft md:px-7">
      {all.slice(0, SHOWN).map((each, n) => <Line key={`${each.agentId} ${each.state}`} activity={each} name={nameOf(each.agentId)} spaceId={space.facts.id} narrow={n === 0} />)}
      {all.length > 1 && <Others count={all.length - 1} className="md:hidden" />}
      {all.length > SHOWN && <Others count={all.length - SHOWN} className="hidden md:flex" />}
      <TypingPeople space={space} className={all.length > 0 ? 'hidden md:block' : ''} />
    </ul>
  )
}

function Others({ count, className }: { count: number; className: string }) {
  return <li className={`shrink-0 ${className}`}><button type="button" className="rounded-sm hover:text-ink hover:underline" onClick={() => inspect({ kind: 'members' })}>{t('+{n} more', { n: count })}</button></li>
}

function Line({ activity, name, spaceId, narrow }: { activity: Activity; name: string; spaceId: string; narrow: boolean }) {
  const now = useNow()
  const { agentId, state, runIds, since } = activity
  const { mayStop, stopping, problem, stop } = useStopRun(runIds, spaceId)
  const show = () => (activity.messageId ? go(messagePath(spaceId, activity.messageId)) : inspect({ kind: 'run', id: runIds[0]! }))
  const decide = state === 'decide'
  return (
    <li className={`min-w-0 animate-rise items-center gap-2 ${narrow ? 'flex' : 'hidden md:flex'}`}>
      <span aria-hidden style={hueOf(agentId)} className={`size-2 shrink-0 rounded-full agent-name ${decide ? 'bg-decide' : state === 'reply' ? 'border-2' : 'animate-breathe bg-current'}`} />
      <button type="button" className="min-w-0 truncate rounded-sm hover:text-ink hover:underline" onClick={show}>
        <b style={hueOf(agentId)} className="font-semibold agent-name"><bdi>{name}</bdi></b> <span className={decide ? 'text-decide' : ''}>{textOf(activity)}</span>
        {decide && <span className="text-link">{dot()}{t('Show')}</span>}
      </button>
      {!decide && now - since > 2000 && <span className="shrink-0 tabular-nums">{duration(now - since)}</span>}
      {mayStop && (
        <button type="button" disabled={stopping} aria-label={t('Stop {name}', { name })} className="flex shrink-0 items-center gap-1 rounded-sm px-1 hover:bg-hover hover:text-ink" onClick={stop}>
          <Stop className="size-4" />
          {stopping ? t('Stopping…') : t('Stop')}
        </button>
      )}
      {problem && <span role="alert" className="truncate text-bad">{problem}</span>}
    </li>
  )
}

function textOf({ state, count }: Activity): string {
  if (state === 'decide') return plural(count, 'needs your decision', 'needs {n} decisions')
  if (state === 'reply') return plural(count, 'is waiting for a reply', 'is waiting for {n} replies')
  return state === 'write' ? t('is writing') : t('is thinking')
}
