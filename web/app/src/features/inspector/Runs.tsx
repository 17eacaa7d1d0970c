import type { Run, SpaceState } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'
import { brief } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { plainText } from '../markdown/plainText.ts'
import { isActive, runDuration, RunStatus, triggerText } from './runText.tsx'

const PAGE = 50
const STATES = {
  all: { label: msg('All runs'), fits: () => true },
  active: { label: msg('Active'), fits: (run: Run) => isActive(run) },
  failed: { label: msg('Failed'), fits: (run: Run) => run.status === 'failed' },
  ended: { label: msg('Ended'), fits: (run: Run) => !isActive(run) },
}

/** Runs triggered in this space, newest first. */
export function Runs({ space }: { space: SpaceState }) {
  const store = useStore()
  const spaceId = space.facts.id
  // Changes when a run starts, ends or waits.
  const version = useMajlis((state) => String(state.agents.runChanges))
  const { data, problem } = useQuery(`runs ${spaceId}`, () => store.client.runs.list({ spaceId, limit: PAGE }), version)
  const [more, setMore] = useState<{ runs: readonly Run[]; hasMore: boolean }>({ runs: [], hasMore: true })
  const runs = joined(data?.runs ?? [], more.runs)
  const load = async () => {
    const page = await store.client.runs.list({ spaceId, limit: PAGE, before: runs.at(-1)!.id })
    setMore({ runs: [...more.runs, ...page.runs], hasMore: page.hasMore })
  }
  const [status, setStatus] = useState<keyof typeof STATES>('all')
  const [agentId, setAgentId] = useState('')
  const agents = [...new Map(runs.map((run) => [run.agentId, run.agentName]))]
  const shown = runs.filter((run) => STATES[status].fits(run) && (!agentId || run.agentId === agentId))
  if (problem) return <p role="alert" className="text-small text-bad">{problem}</p>
  if (data?.runs.length === 0) return <p className="text-small text-ink-soft">{t('No runs yet')}</p>
  return (
    <>
      {runs.length > 1 && (
        <div className="mb-2 flex flex-wrap gap-2">
          <select aria-label={t('Status')} value={status} className="field w-auto py-1 text-tiny" onChange={(event) => setStatus(event.target.value as keyof typeof STATES)}>{Object.entries(STATES).map(([value, { label }]) => <option key={value} value={value}>{t(label)}</option>)}</select>
          {agents.length > 1 && <select aria-label={t('Agent')} value={agentId} className="field w-auto py-1 text-tiny" onChange={(event) => setAgentId(event.target.value)}><option value="">{t('All agents')}</option>{agents.map(([id, name]) => <option key={id} value={id}>{name}</option>)}</select>}
        </div>
      )}
      {shown.length === 0 && <p className="text-small text-ink-soft">{t('No results')}</p>}
      <ul className="-mx-2 space-y-0.5">{shown.map((run) => <li key={run.id}><Row run={run} /></li>)}</ul>
      {data?.hasMore && more.hasMore && <Button className="mt-2" onClick={() => void load().catch(() => {})}>{t('Load earlier runs')}</Button>}
    </>
  )
}

/** Joins the pages. New runs move old ones to the next page, so pages can overlap. */
function joined(newest: readonly Run[], earlier: readonly Run[]): readonly Run[] {
  const known = new Set(newest.map((run) => run.id))
  return [...newest, ...earlier.filter((run) => !known.has(run.id))]
}

function Row({ run }: { run: Run }) {
  return (
    <button type="button" className="block w-full rounded-md px-2 py-1.5 text-start hover:bg-hover" onClick={() => inspect({ kind: 'run', id: run.id })}>
      <span className="flex items-baseline gap-2 leading-snug">
        <bdi className="truncate font-semibold text-agent">{run.agentName}</bdi>
        <RunStatus run={run} />
        <span className="ms-auto shrink-0 text-tiny text-ink-soft tabular-nums">{runDuration(run)}{dot()}{brief(run.createdAt)}</span>
      </span>
      <bdi className="block truncate text-along text-small text-ink-soft">{plainText(triggerText(run))}</bdi>
    </button>
  )
}
