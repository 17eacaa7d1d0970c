import type { SpaceState, WaitingRun, WorkingRun } from '@majlis/client'
import { useRuns, useStreams } from '@majlis/client/react'

import { inspect } from '../../router.ts'
import { Stop } from '../../ui/icons.tsx'
import { duration, useNow } from '../../ui/time.ts'
import { useStopRun } from './useStopRun.ts'

/** Agents that are working or waiting in this space, with a button to stop each run. */
export function ActiveAgents({ space }: { space: SpaceState }) {
  const { working, waiting } = useRuns(space.facts.id)
  const nameOf = (id: string) => space.members.find((member) => member.id === id)?.name ?? 'An agent'
  const writing = new Set(useStreams(space.facts.id).map((stream) => stream.agentId))
  return (
    <ul aria-label="Active agents" tabIndex={working.length + waiting.length > 3 ? 0 : undefined} className="mx-auto flex mb-1 max-h-18 min-h-6 w-full max-w-column shrink-0 flex-wrap items-center gap-x-5 overflow-y-auto px-4 text-small text-ink-soft md:px-7">
      {working.map((run) => (
        <Line key={run.runId} run={run} name={nameOf(run.agentId)} status={writing.has(run.agentId) ? 'is writing' : 'is thinking'} lively />
      ))}
      {waiting.map((run) => (
        <Line key={run.runId} run={run} name={nameOf(run.agentId)} status={run.for === 'tool' ? 'needs your decision' : 'is waiting for a reply'} />
      ))}
    </ul>
  )
}

function Line({ run, name, status, lively = false }: { run: WorkingRun | WaitingRun; name: string; status: string; lively?: boolean }) {
  const now = useNow()
  const { mayStop, stopping, problem, stop } = useStopRun(run.runId, run.spaceId)
  return (
    <li className="flex animate-rise items-center gap-2">
      <span aria-hidden className={`size-2 rounded-full ${lively ? 'animate-breathe bg-agent' : 'border-2 border-agent'}`} />
      <button type="button" className="rounded-sm hover:text-ink hover:underline" onClick={() => inspect({ kind: 'run', id: run.runId })}>
        <b className="font-semibold text-agent">{name}</b> {status}
      </button>
      {now - run.since > 2000 && <span className="tabular-nums">{duration(now - run.since)}</span>}
      {mayStop && (
        <button
          type="button"
          disabled={stopping}
          aria-label={`Stop ${name}`}
          className="flex items-center gap-1 rounded-sm px-1 hover:bg-hover hover:text-ink"
          onClick={stop}
        >
          <Stop className="size-4" />
          {stopping ? 'Stopping…' : 'Stop'}
        </button>
      )}
      {problem && <span role="alert" className="text-bad">{problem}</span>}
    </li>
  )
}
