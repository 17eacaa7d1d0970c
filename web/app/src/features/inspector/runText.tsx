import type { Run } from '@majlis/client'

import { msg, t } from '../../language/words.ts'
import { capitalize } from '../../ui/format.ts'
import { preciseDuration } from '../../ui/time.ts'

const STATUS: Record<Run['status'], string> = {
  queued: msg('queued'),
  running: msg('running'),
  waiting_reply: msg('waiting for a reply'),
  waiting_tool: msg('needs your decision'),
  completed: msg('completed'),
  failed: msg('failed'),
  canceled: msg('canceled'),
}

export const isActive = (run: Run): boolean => run.endedAt === null

export function RunStatus({ run }: { run: Run }) {
  const look = run.status === 'failed' ? 'text-bad' : isActive(run) ? 'text-agent' : 'text-ink-soft'
  return <span className={`shrink-0 text-small ${look}`}>{t(STATUS[run.status])}{run.reason ? ` (${run.reason})` : ''}</span>
}

export function triggerText(run: Run): string {
  const { trigger } = run
  switch (trigger.type) {
    case 'space_message':
      return `${trigger.senderName ?? t('A member')}: ${trigger.text ?? ''}`
    case 'plan':
      return t('Plan “{name}”: {instruction}', { name: trigger.planName ?? '', instruction: trigger.instruction ?? '' })
    case 'service':
      return t('Service: {name}', { name: trigger.serviceName ?? '' })
    default:
      return capitalize(String(trigger.type ?? '').replaceAll('_', ' '))
  }
}

export function runDuration(run: Run): string {
  if (!run.startedAt) return t('Not started')
  const end = run.endedAt ? Date.parse(run.endedAt) : Date.now()
  return preciseDuration(end - Date.parse(run.startedAt))
}

/** "1,200 input (800 cached), 90 output" */
export const tokensText = ({ inputTokens, cachedTokens, outputTokens }: { inputTokens: number; cachedTokens: number; outputTokens: number }): string =>
  t('{input} input ({cached} cached), {output} output', { input: inputTokens, cached: cachedTokens, output: outputTokens })
