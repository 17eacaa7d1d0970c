import type { DayUsage } from '@majlis/client'

import { count } from '../../ui/format.ts'
import { DayChart } from './DayChart.tsx'

const DAYS = 30
const money = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const dayOf = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Tokens per day, and cost if the price of the model is configured. */
export function UsageByDay({ days }: { days: readonly DayUsage[] }) {
  if (days.length === 0) return null
  const priced = days.flatMap((each) => (each.cost === null ? [] : [{ ...each, cost: each.cost }]))
  const name = (day: string) => dayOf.format(new Date(day))
  const tokens = days.map((each) => ({ day: each.day, total: each.inputTokens + each.outputTokens, light: each.cachedTokens, label: `${name(each.day)}: ${count(each.inputTokens)} input, ${count(each.cachedTokens)} cached, ${count(each.outputTokens)} output` }))
  const costs = priced.map((each) => ({ day: each.day, total: each.cost, label: `${name(each.day)}: ${money.format(each.cost)}` }))
  const total = priced.reduce((sum, each) => sum + each.cost, 0)
  return (
    <div className="space-y-4">
      <DayChart title="Tokens" bars={tokens} days={DAYS} peak={count(Math.max(...tokens.map((bar) => bar.total)))} caption={`Last ${DAYS} days. Lighter bars are cached tokens.`} />
      {costs.length > 0 && <DayChart title="Cost" bars={costs} days={DAYS} peak={money.format(Math.max(...costs.map((bar) => bar.total)))} caption={`${money.format(total)} in the last ${DAYS} days, at the price of the current model.`} />}
    </div>
  )
}
