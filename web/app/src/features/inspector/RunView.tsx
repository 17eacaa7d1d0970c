import type { Run } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { inspect, messagePath } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { fullTime, useNow } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { useStopRun } from '../agents/useStopRun.ts'
import { plainText } from '../markdown/plainText.ts'
import { PromptView } from './PromptView.tsx'
import { causeOf, count, isUnderWay, StatusMark, tookOf } from './runText.tsx'
import { Steps } from './Steps.tsx'

const BEAT_MS = 3000

/** One run: why it began, what it did step by step, what it cost, and what the agent saw. */
export function RunView({ runId }: { runId: string }) {
  const store = useStore()
  const me = useMe()!
  const state = useMajlis(({ agents }) => `${Object.keys(agents.working).some((key) => key.startsWith(runId))} ${runId in agents.waiting}`)
  const now = useNow()
  // While it works, steps are added that no event tells of.
  const changes = state.startsWith('true') ? `${state} ${Math.floor(now / BEAT_MS)}` : state
  const { data: run, problem } = useQuery(runId, () => store.client.runs.get(runId), changes)
  const [seeing, setSeeing] = useState(false)
  if (problem) return <p role="alert" className="text-small text-bad">{problem}</p>
  if (!run) return <p className="text-small text-ink-soft">Looking…</p>
  return (
    <div className="space-y-4">
      <Facts run={run} />
      {me.role !== 'member' && (
        <div>
          <Button aria-expanded={seeing} onClick={() => setSeeing(!seeing)}>{seeing ? 'Hide what it saw' : 'What it saw'}</Button>
          {seeing && <PromptView run={run} />}
        </div>
      )}
      <Steps run={run} state={changes} />
    </div>
  )
}

function Facts({ run }: { run: Run }) {
  const { trigger, usage } = run
  const { mayStop, stopping, problem, stop } = useStopRun(run.id, trigger.spaceId ?? null)
  return (
    <section className="space-y-2">
      <h3 className="flex flex-wrap items-baseline gap-2 text-large">
        <button type="button" className="rounded-sm text-agent hover:underline" onClick={() => inspect({ kind: 'agent', id: run.agentId })}>{run.agentName}</button>
        <StatusMark run={run} />
      </h3>
      <p className="border-l-2 border-line pl-3 text-small text-ink-soft">
        {trigger.spaceId && trigger.messageId
          ? <Link href={`${messagePath(trigger.spaceId, trigger.messageId)}${location.search}`} className="hover:text-ink hover:underline">{plainText(causeOf(run))}</Link>
          : plainText(causeOf(run))}
      </p>
      {run.error && <p className="rounded-md bg-bad-low px-3 py-2 text-small text-bad">{run.error.message}</p>}
      {run.notes.map((note, n) => <p key={n} className="rounded-md bg-paper-low px-3 py-2 text-small">{note}</p>)}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 text-small [&>dt]:text-ink-soft">
        <dt>Began</dt><dd>{run.startedAt ? fullTime(run.startedAt) : 'not yet'}</dd>
        <dt>Took</dt><dd>{tookOf(run)}</dd>
        <dt>Tokens</dt><dd>{count(usage.inputTokens)} in, {count(usage.cachedTokens)} of them cached, {count(usage.outputTokens)} out</dd>
        <dt>Depth</dt><dd>{run.chainDepth}</dd>
      </dl>
      {isUnderWay(run) && mayStop && <Button look="bad" disabled={stopping} onClick={stop}>{stopping ? 'Stopping…' : 'Stop'}</Button>}
      {problem && <p role="alert" className="text-small text-bad">{problem}</p>}
    </section>
  )
}
