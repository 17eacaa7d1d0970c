import type { MessageDelivery } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { inspect } from '../../router.ts'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

const WORDS: Record<MessageDelivery['state'], string> = {
  pending: 'has not looked yet',
  taken: 'is reading it',
  done: 'has read it',
  passed: 'passed it by',
  failed: 'failed over it',
}

/** What became of a message for each agent that was owed it. */
export default function Deliveries({ messageId, mayWrite }: { messageId: string; mayWrite: boolean }) {
  const { list, problem, retry } = useDeliveries(messageId)
  if (problem) return <p role="alert" className="text-bad">{problem}</p>
  if (!list) return <p className="text-ink-soft">Looking…</p>
  if (list.length === 0) return <p className="text-ink-soft">No agent was owed this message.</p>
  return (
    <ul className="space-y-1.5">
      {list.map((each) => (
        <li key={each.agentId}>
          <b className="font-semibold text-agent">{each.agentName}</b>{' '}
          <span className={each.state === 'failed' ? 'text-bad' : ''}>{WORDS[each.state]}</span>
          {each.attempts > 1 && <span className="text-ink-soft"> after {each.attempts} tries</span>}
          {each.nextAttemptAt && <span className="block text-ink-soft">next try {fullTime(each.nextAttemptAt)}</span>}
          {each.runId && (
            <button type="button" className="ml-2 rounded-sm text-ink-soft underline underline-offset-4 hover:text-ink" onClick={() => inspect({ kind: 'run', id: each.runId! })}>
              run
            </button>
          )}
          {each.state === 'failed' && mayWrite && (
            <button type="button" className="ml-2 rounded-sm text-warm underline underline-offset-4" onClick={() => retry(each.agentId)}>
              try again
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** They change when a run begins or ends. */
export function useDeliveries(messageId: string) {
  const { client } = useStore()
  const changes = useMajlis((state) => Object.keys(state.agents.working).join(' '))
  const { data: list, problem, again } = useQuery<readonly MessageDelivery[]>(messageId, () => client.messages.deliveries(messageId), changes)
  const [refused, setRefused] = useState('')
  const retry = (agentId: string) => void client.messages.retryDelivery(messageId, agentId).then(again, (error: Error) => setRefused(error.message))
  return { list, problem: problem || refused, retry }
}
