import type { Tool } from '@majlis/client'

import { t } from '../../language/words.ts'
import { fullTime, timeOf } from '../../ui/time.ts'
import { answerText } from './CardResult.tsx'

/** The answers to a question that needs several, and how many are missing. */
export function AskAnswers({ tool }: { tool: Tool }) {
  const { answers, need } = tool.ask!
  if (need === 1 && answers.length === 0) return null
  return (
    <div className="mt-2 text-small">
      <p className="text-ink-soft">{t('{part} of {whole} answered', { part: answers.length, whole: need })}</p>
      <ul>
        {answers.map(({ by, result, at }) => (
          <li key={by.id}>
            {by.name}: <b className="font-semibold">{result === null ? t('Deleted') : answerText(result, tool.ui, tool.resultSchema)}</b>
            <time dateTime={at} title={fullTime(at)} className="text-ink-soft">{t(', ')}{timeOf(at)}</time>
          </li>
        ))}
      </ul>
    </div>
  )
}
