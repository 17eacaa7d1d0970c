/** The runs of a space as one line per agent and state. */
import type { PendingCall, WaitingRun, WorkingRun } from '@majlis/client'

export interface Activity {
  agentId: string
  state: 'decide' | 'write' | 'think' | 'reply'
  /** How many decisions or replies it waits for. */
  count: number
  runIds: string[]
  since: number
  /** The oldest open question. */
  messageId: string | null
}

const ORDER: readonly Activity['state'][] = ['decide', 'write', 'think', 'reply']

export function activityOf(working: readonly WorkingRun[], waiting: readonly WaitingRun[], pending: readonly PendingCall[], writing: ReadonlySet<string>): Activity[] {
  const found = new Map<string, Activity>()
  const add = (agentId: string, state: Activity['state'], runId: string, since: number, messageId: string | null) => {
    const key = `${agentId} ${state}`
    const known = found.get(key)
    if (!known) return void found.set(key, { agentId, state, count: 1, runIds: [runId], since, messageId })
    const older = since < known.since
    found.set(key, { ...known, count: known.count + 1, runIds: [...new Set([...known.runIds, runId])], since: older ? since : known.since, messageId: older ? messageId : known.messageId })
  }
  for (const call of pending) add(call.agentId, 'decide', call.runId, Date.parse(call.createdAt), call.messageId)
  for (const run of working) add(run.agentId, writing.has(run.agentId) ? 'write' : 'think', run.runId, run.since, null)
  for (const run of waiting) if (run.for === 'reply') add(run.agentId, 'reply', run.runId, run.since, run.wait?.messageId ?? null)
  return [...found.values()].toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || a.since - b.since)
}
