import type { PromptBudget } from '@majlis/client'
import type { CSSProperties } from 'react'

import { capitalize, count, plural } from '../../ui/format.ts'

type Part = PromptBudget['parts'][number]
type LeftOut = PromptBudget['leftOut'][number]

// Far enough apart that neighbors can be told from each other.
const hue = (n: number): CSSProperties => ({ '--hue': String((n * 67 + 40) % 360) }) as CSSProperties
const HATCHED = 'bg-[repeating-linear-gradient(135deg,var(--color-ink-soft)_0_1px,transparent_1px_4px)]'
const ONE: Record<string, string> = {
  messages: 'message', memories: 'memory', goals: 'goal', plans: 'plan', spaces: 'space', calls: 'call', cycles: 'cycle', results: 'result', trigger: 'trigger', instructions: 'instructions',
}
const WHY: Record<string, string> = { window: 'before the window', budget: 'no room in the budget', length: 'too long for a line' }

/** What each block of a prompt took of its budget, what was cached (hatched), and what was left out. */
export function BudgetBar({ budget }: { budget: PromptBudget }) {
  const used = budget.parts.reduce((sum, part) => sum + part.tokens, 0)
  const free = budget.tokens === null ? 0 : Math.max(0, budget.tokens - used - budget.reserved)
  const summary = budget.tokens === null ? `≈ ${plural(used, 'token')}, no budget` : `≈ ${count(used)} of ${plural(budget.tokens, 'token')} used, ${count(budget.reserved)} kept for the answer`
  return (
    <figure aria-label="Budget" className="mb-2 text-tiny text-ink-soft">
      <figcaption className="mb-1 tabular-nums">{summary}</figcaption>
      <div aria-hidden className="flex h-4 overflow-hidden rounded-sm border border-line">
        {budget.parts.map((part, n) => (
          <span key={part.name} title={textOf(part)} style={{ ...hue(n), flexGrow: part.tokens }} className="min-w-0 basis-0 part-hue">
            <span style={{ width: `${(100 * part.cached) / Math.max(1, part.tokens)}%` }} className={`block h-full ${HATCHED}`} />
          </span>
        ))}
        {free > 0 && <span title={`Free: ${plural(free, 'token')}`} style={{ flexGrow: free }} className="min-w-0 basis-0" />}
        {budget.reserved > 0 && <span title={`Kept for the answer: ${plural(budget.reserved, 'token')}`} style={{ flexGrow: budget.reserved }} className="min-w-0 basis-0 bg-line" />}
      </div>
      <ul className="mt-1 flex flex-wrap gap-x-3 tabular-nums">
        {budget.parts.map((part, n) => (
          <li key={part.name} className="flex items-center gap-1"><span aria-hidden style={hue(n)} className="size-2 rounded-full part-hue" />{textOf(part)}</li>
        ))}
      </ul>
      {budget.leftOut.length > 0 && <ul aria-label="Left out" className="mt-1 list-disc pl-4">{budget.leftOut.map((each, n) => <li key={n}>{lineOf(each)}</li>)}</ul>}
    </figure>
  )
}

function textOf(part: Part): string {
  return `${capitalize(part.name.toLowerCase())} ${count(part.tokens)}${part.cached > 0 ? ` (${count(part.cached)} cached)` : ''}`
}

function lineOf({ what, how, count: n, why }: LeftOut): string {
  return `${n === 1 ? `1 ${ONE[what] ?? what}` : plural(n, ONE[what] ?? what, what)} ${how}: ${WHY[why] ?? why}`
}
