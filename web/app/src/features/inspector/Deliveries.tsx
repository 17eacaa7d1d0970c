import type { MessageDelivery } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, plural, t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

const STATES: Record<MessageDelivery['state'], string> = {
  pending: msg('hasn’t started yet'),
  taken: msg('is working on it'),
  done: msg('responded'),
  passed: msg('chose not to reply'),
  failed: msg('failed to respond'),
  collected: msg('counted it as an answer'),
  parked: msg('will continue when its budget allows'),
  withdrawn: msg('no longer needs it'),
}

/** The deliveries of a message: one line for each agent it was delivered to. */
export default function Deliveries({ messageId, mayWrite }: { messageId: string; mayWrite: boolean }) {
  const { list, problem, retry } = useDeliveries(messageId)
  if (!list || problem) return <QueryStatus problem={problem} />
  if (list.length === 0) return <p className="text-ink-soft">{t('No agents were notified.')}</p>
  return (
    <ul className="space-y-1.5">
      {list.map((each) => (
        <li key={each.agentId}>
          <b className="font-semibold text-agent">{each.agentName}</b>{' '}
          <span className={each.state === 'failed' ? 'text-bad' : ''}>{each.reason && each.state !== 'pending' ? t('did not respond') : t(STATES[each.state])}</span>
          {each.reason && <span className="block text-ink-soft">{t('Reason: {reason}', { reason: each.reason })}</span>}
          {each.attempts > 1 && <span className="text-ink-soft"> {plural(each.attempts, 'after {n} attempt', 'after {n} attempts')}</span>}
          {each.nextAttemptAt && <span className="block text-ink-soft">{t('Next attempt: {time}', { time: fullTime(each.nextAttemptAt) })}</span>}
          {each.runId && (
            <button type="button" className="ms-2 rounded-sm text-ink-soft underline underline-offset-4 hover:text-ink" onClick={() => inspect({ kind: 'run', id: each.runId! })}>
              {t('View run')}
            </button>
          )}
          {each.state === 'failed' && mayWrite && (
            <button type="button" className="ms-2 rounded-sm text-link underline underline-offset-4" onClick={() => retry(each.agentId)}>
              {t('Retry')}
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Reloads with each event of a run: it may have started or ended. */
export function useDeliveries(messageId: string) {
  const { client } = useStore()
  const version = useMajlis((state) => String(state.agents.runChanges))
  const { data: list, problem, reload } = useQuery<readonly MessageDelivery[]>(messageId, () => client.messages.deliveries(messageId), version)
  const [refused, setRefused] = useState('')
  const retry = (agentId: string) => void client.messages.retryDelivery(messageId, agentId).then(reload, (error: Error) => setRefused(error.message))
  return { list, problem: problem || refused, retry }
}
