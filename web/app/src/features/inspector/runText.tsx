import type { Run } from '@majlis/client'

import { capitalize } from '../../ui/format.ts'
import { preciseDuration } from '../../ui/time.ts'

const STATUS: Record<Run['status'], string> = {
  queued: 'queued',
  running: 'running',
  waiting_reply: 'waiting for a reply',
  waiting_tool: 'needs your decision',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
}

export const isActive = (run: Run): boolean => run.endedAt === null

export function RunStatus({ run }: { run: Run }) {
  const look = run.status === 'failed' ? 'text-bad' : isActive(run) ? 'text-agent' : 'text-ink-soft'
  return <span className={`shrink-0 text-small ${look}`}>{STATUS[run.status]}{run.reason ? ` (${run.reason})` : ''}</span>
}

export function triggerText(run: Run): string {
  const { trigger } = run
  switch (trigger.type) {
    case 'space_message':
      return `${trigger.senderName ?? 'A member'}: ${trigger.text ?? ''}`
    case 'plan':
      return `Plan “${trigger.planName ?? ''}”: ${trigger.instruction ?? ''}`
    case 'service':
      return `Service: ${trigger.serviceName ?? ''}`
    default:
      return capitalize(String(trigger.type ?? '').replaceAll('_', ' '))
  }
}

export function runDuration(run: Run): string {
  if (!run.startedAt) return 'Not started'
  const end = run.endedAt ? Date.parse(run.endedAt) : Date.now()
  return preciseDuration(end - Date.parse(run.startedAt))
}
