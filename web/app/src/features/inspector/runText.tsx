/** A run in words. */
import type { Run } from '@majlis/client'

import { spanOf } from '../../ui/time.ts'

const WORDS: Record<Run['status'], string> = {
  queued: 'queued',
  running: 'running',
  waiting_reply: 'waits for an answer',
  waiting_tool: 'waits for a decision',
  completed: 'completed',
  failed: 'failed',
  canceled: 'stopped',
}

export const isUnderWay = (run: Run): boolean => run.endedAt === null

export function StatusMark({ run }: { run: Run }) {
  const look = run.status === 'failed' ? 'text-bad' : isUnderWay(run) ? 'text-agent' : 'text-ink-soft'
  return <span className={`shrink-0 text-small ${look}`}>{WORDS[run.status]}{run.reason ? ` (${run.reason})` : ''}</span>
}

export function causeOf(run: Run): string {
  const { trigger } = run
  switch (trigger.type) {
    case 'space_message':
      return `${trigger.senderName ?? 'Somebody'}: ${trigger.text ?? ''}`
    case 'plan':
      return `Plan “${trigger.planName ?? ''}”: ${trigger.instruction ?? ''}`
    case 'service':
      return `Service ${trigger.serviceName ?? ''}`
    default:
      return String(trigger.type ?? '').replace('_', ' ')
  }
}

export function tookOf(run: Run): string {
  if (!run.startedAt) return 'not begun'
  const end = run.endedAt ? Date.parse(run.endedAt) : Date.now()
  return spanOf(end - Date.parse(run.startedAt))
}

const figures = new Intl.NumberFormat()
export const count = (n: number): string => figures.format(n)
export const some = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`
