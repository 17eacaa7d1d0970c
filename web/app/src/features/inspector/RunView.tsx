import type { Run } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { count, t } from '../../language/words.ts'
import { inspect, messagePath } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { money } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { fullTime, useNow } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { useStopRun } from '../agents/useStopRun.ts'
import { plainText } from '../markdown/plainText.ts'
import { UnsentAnswer } from '../timeline/Unsent.tsx'
import { PromptView } from './PromptView.tsx'
import { isActive, runDuration, RunStatus, tokensText, triggerText } from './runText.tsx'
import { Steps } from './Steps.tsx'

const RELOAD_MS = 3000

/** One run: its trigger, steps, tokens and prompt. */
export function RunView({ runId }: { runId: string }) {
  const store = useStore()
  const me = useMe()!
  const state = useMajlis(({ agents }) => `${Object.keys(agents.working).some((key) => key.startsWith(runId))} ${runId in agents.waiting}`)
  const now = useNow()
  // New steps of an active run come without a live event.
  const version = state.startsWith('true') ? `${state} ${Math.floor(now / RELOAD_MS)}` : state
  const { data: run, problem } = useQuery(runId, () => store.client.runs.get(runId), version)
  const [showPrompt, setShowPrompt] = useState(false)
  if (!run) return <QueryStatus problem={problem} />
  return (
    <div className="space-y-4">
      <Facts run={run} />
      {run.unsent && <UnsentAnswer runId={run.id} agentName={run.agentName} />}
      {me.role !== 'member' && (
        <div>
          <Button aria-expanded={showPrompt} onClick={() => setShowPrompt(!showPrompt)}>{showPrompt ? t('Hide prompt') : t('Show prompt')}</Button>
          {showPrompt && <PromptView run={run} />}
        </div>
      )}
      <Steps run={run} version={version} />
    </div>
  )
}

function Facts({ run }: { run: Run }) {
  const { trigger, usage } = run
  const { mayStop, stopping, problem, stop } = useStopRun([run.id], trigger.spaceId ?? null)
  return (
    <section className="space-y-2">
      <h3 className="flex flex-wrap items-baseline gap-2 text-large">
        <button type="button" className="rounded-sm text-agent hover:underline" onClick={() => inspect({ kind: 'agent', id: run.agentId })}>{run.agentName}</button>
        <RunStatus run={run} />
      </h3>
      <p className="border-s-2 border-line ps-3 text-small text-ink-soft">
        {trigger.spaceId && trigger.messageId
          ? <Link href={`${messagePath(trigger.spaceId, trigger.messageId)}${location.search}`} className="hover:text-ink hover:underline"><bdi>{plainText(triggerText(run))}</bdi></Link>
          : <bdi>{plainText(triggerText(run))}</bdi>}
      </p>
      {run.error && <p dir="auto" className="rounded-md bg-bad-low px-3 py-2 text-along text-small text-bad">{run.error.message}</p>}
      {run.notes.map((note, n) => <p key={n} className="rounded-md bg-paper-low px-3 py-2 text-small">{note}</p>)}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 text-small [&>dt]:text-ink-soft">
        <dt>{t('Started')}</dt><dd>{run.startedAt ? fullTime(run.startedAt) : t('Not started')}</dd>
        <dt>{t('Duration')}</dt><dd>{runDuration(run)}</dd>
        <dt>{t('Tokens')}</dt><dd>{tokensText(usage)}</dd>
        {run.cost !== null && <><dt>{t('Cost')}</dt><dd>{money(run.cost)}</dd></>}
        <dt>{t('Chain depth')}</dt><dd>{count(run.chainDepth)}</dd>
      </dl>
      {isActive(run) && mayStop && <Button look="bad" disabled={stopping} onClick={stop}>{stopping ? t('Stopping…') : t('Stop')}</Button>}
      {problem && <p role="alert" className="text-small text-bad">{problem}</p>}
    </section>
  )
}
