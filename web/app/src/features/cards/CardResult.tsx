import type { Tool } from '@majlis/client'

import { t } from '../../language/words.ts'
import { labelOf, propertiesOf, type Property } from './formSchema.ts'
import { dot } from '../../ui/format.ts'
import { fullTime, timeOf } from '../../ui/time.ts'

/** The answer to a closed card, with its author and time. */
export function CardResult({ tool }: { tool: Tool }) {
  const { answeredBy, answeredAt } = tool
  return (
    <p className="mt-2 text-small">
      <b className={`font-semibold ${tool.status === 'error' ? 'text-bad' : ''}`}>{resultText(tool)}</b>
      {answeredBy && <span className="text-ink-soft">{dot()}{answeredBy.name}</span>}
      {answeredAt && <time dateTime={answeredAt} title={fullTime(answeredAt)} className="text-ink-soft">{t(', ')}{timeOf(answeredAt)}</time>}
    </p>
  )
}

function shownValue(value: unknown, property: Property): string {
  if (typeof value === 'boolean') return value ? t('Yes') : t('No')
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.map((each) => shownValue(each, property.items ?? {})).join(t(', '))
  const name = property.enumNames?.[property.enum?.indexOf(value) ?? -1]
  if (name) return name
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function resultText(tool: Tool): string {
  const { output, ui, status, resultSchema } = tool
  const answer = (output ?? {}) as Record<string, unknown>
  if (answer['status'] === 'timeout') return t('Timed out')
  if (tool.mayDecline && answer['status'] === 'declined') return t('Declined')
  if (status === 'error') return t('Canceled')
  return answerText(output, ui, resultSchema)
}

/** An answer in words. */
export function answerText(output: unknown, ui: string | null, resultSchema: Tool['resultSchema']): string {
  const answer = (output ?? {}) as Record<string, unknown>
  if (ui === 'approval' && typeof answer['approved'] === 'boolean') {
    const comment = answer['comment'] ? `: “${String(answer['comment'])}”` : ''
    return (answer['approved'] ? t('Approved') : t('Declined')) + comment
  }
  if (ui === 'choice' && 'choice' in answer) return String(answer['choice'])
  const properties = propertiesOf(resultSchema)
  if (ui === 'form' && Object.keys(answer).length === 0) return t('Confirmed')
  return Object.entries(answer).map(([name, value]) => `${labelOf(name, properties[name] ?? {})}: ${shownValue(value, properties[name] ?? {})}`).join(dot())
}
