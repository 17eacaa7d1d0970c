import type { Tool } from '@majlis/client'

import { fullTime, timeOf } from '../../ui/time.ts'

/** The answer to a closed card, with its author and time. */
export function CardResult({ tool }: { tool: Tool }) {
  const { answeredBy, answeredAt } = tool
  return (
    <p className="mt-2 text-small">
      <b className={`font-semibold ${tool.status === 'error' ? 'text-bad' : ''}`}>{resultText(tool)}</b>
      {answeredBy && <span className="text-ink-soft"> · {answeredBy.name}</span>}
      {answeredAt && <time dateTime={answeredAt} title={fullTime(answeredAt)} className="text-ink-soft">, {timeOf(answeredAt)}</time>}
    </p>
  )
}

function resultText({ output, ui, status }: Tool): string {
  const answer = (output ?? {}) as Record<string, unknown>
  if (answer['status'] === 'timeout') return 'Timed out'
  if (ui === 'approval' && typeof answer['approved'] === 'boolean') {
    const comment = answer['comment'] ? `: “${String(answer['comment'])}”` : ''
    return (answer['approved'] ? 'Approved' : 'Declined') + comment
  }
  if (ui === 'choice' && 'choice' in answer) return String(answer['choice'])
  if (status === 'error') return 'Canceled'
  return Object.entries(answer).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(' · ')
}
