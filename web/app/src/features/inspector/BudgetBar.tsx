import type { PromptBudget } from '@majlis/client'
import type { CSSProperties } from 'react'

import { count, msg, plural, t } from '../../language/words.ts'
import { capitalize, dot } from '../../ui/format.ts'
import { SIZE_SOURCE } from '../../ui/sizeSource.ts'

type Part = PromptBudget['parts'][number]
type LeftOut = PromptBudget['leftOut'][number]

// Far enough apart that neighbors can be told from each other.
const hue = (n: number): CSSProperties => ({ '--hue': String((n * 67 + 40) % 360) }) as CSSProperties
const HATCHED = 'bg-[repeating-linear-gradient(135deg,var(--color-ink-soft)_0_1px,transparent_1px_4px)]'
/** How many of what were left out, by the server's word for it. */
const LEFT_OUT: Record<string, (n: number) => string> = {
  messages: (n) => plural(n, '{n} message', '{n} messages'),
  memories: (n) => plural(n, '{n} memory', '{n} memories'),
  goals: (n) => plural(n, '{n} goal', '{n} goals'),
  plans: (n) => plural(n, '{n} plan', '{n} plans'),
  spaces: (n) => plural(n, '{n} space', '{n} spaces'),
  calls: (n) => plural(n, '{n} call', '{n} calls'),
  cycles: (n) => plural(n, '{n} cycle', '{n} cycles'),
  results: (n) => plural(n, '{n} result', '{n} results'),
  trigger: (n) => plural(n, '{n} trigger', '{n} triggers'),
  tools: (n) => plural(n, '{n} tool', '{n} tools'),
  instructions: (n) => plural(n, '{n} instruction', '{n} instructions'),
}
const WHY: Record<string, string> = { window: msg('before the window'), budget: msg('no room in the budget'), length: msg('too long for a line') }

/** What each block of a prompt took of its budget, what was cached (hatched), and what was left out. */
export function BudgetBar({ budget }: { budget: PromptBudget }) {
  const used = budget.parts.reduce((sum, part) => sum + part.tokens, 0)
  const free = budget.tokens === null ? 0 : Math.max(0, budget.tokens - used - budget.reserved)
  const summary = budget.tokens === null ? t('≈ {tokens}, no budget', { tokens: plural(used, '{n} token', '{n} tokens') }) : t('≈ {used} of {tokens} used, {reserved} kept for the answer', { used, tokens: plural(budget.tokens, '{n} token', '{n} tokens'), reserved: budget.reserved })
  return (
    <figure aria-label={t('Budget')} className="mb-2 text-tiny text-ink-soft">
      <figcaption className="mb-1 tabular-nums">{summary}{budget.source && `${dot()}${t('Budget: {source}', { source: t(SIZE_SOURCE[budget.source]) })}`}</figcaption>
      <div aria-hidden className="flex h-4 overflow-hidden rounded-sm border border-line">
        {budget.parts.map((part, n) => (
          <span key={part.name} title={textOf(part)} style={{ ...hue(n), flexGrow: part.tokens }} className="min-w-0 basis-0 part-hue">
            <span style={{ width: `${(100 * part.cached) / Math.max(1, part.tokens)}%` }} className={`block h-full ${HATCHED}`} />
          </span>
        ))}
        {free > 0 && <span title={t('Free: {tokens}', { tokens: plural(free, '{n} token', '{n} tokens') })} style={{ flexGrow: free }} className="min-w-0 basis-0" />}
        {budget.reserved > 0 && <span title={t('Kept for the answer: {tokens}', { tokens: plural(budget.reserved, '{n} token', '{n} tokens') })} style={{ flexGrow: budget.reserved }} className="min-w-0 basis-0 bg-line" />}
      </div>
      <ul className="mt-1 flex flex-wrap gap-x-3 tabular-nums">
        {budget.parts.map((part, n) => (
          <li key={part.name} className="flex items-center gap-1"><span aria-hidden style={hue(n)} className="size-2 rounded-full part-hue" />{textOf(part)}</li>
        ))}
      </ul>
      {budget.leftOut.length > 0 && <ul aria-label={t('Left out')} className="mt-1 list-disc ps-4">{budget.leftOut.map((each, n) => <li key={n}>{lineOf(each)}</li>)}</ul>}
    </figure>
  )
}

function textOf(part: Part): string {
  return `${capitalize(part.name.toLowerCase())} ${count(part.tokens)}${part.cached > 0 ? ` (${t('{n} cached', { n: part.cached })})` : ''}`
}

function lineOf({ what, how, count: n, why }: LeftOut): string {
  return `${LEFT_OUT[what]?.(n) ?? `${count(n)} ${what}`} ${how}: ${WHY[why] ? t(WHY[why]) : why}`
}
