import type { DayUsage } from '@majlis/client'

import { DayChart } from './DayChart.tsx'
import { count } from './runText.tsx'

const DAYS = 30
const money = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const dayOf = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Tokens day by day, and money where this gateway knows the model's price. */
export function UsageByDay({ days }: { days: readonly DayUsage[] }) {
  if (days.length === 0) return null
  const priced = days.flatMap((each) => (each.cost === null ? [] : [{ ...each, cost: each.cost }]))
  const name = (day: string) => dayOf.format(new Date(day))
  const tokens = days.map((each) => ({ day: each.day, whole: each.inputTokens + each.outputTokens, light: each.cachedTokens, words: `${name(each.day)}: ${count(each.inputTokens)} in, ${count(each.cachedTokens)} cached, ${count(each.outputTokens)} out` }))
  const costs = priced.map((each) => ({ day: each.day, whole: each.cost, words: `${name(each.day)}: ${money.format(each.cost)}` }))
  const total = priced.reduce((sum, each) => sum + each.cost, 0)
  return (
    <div className="space-y-4">
      <DayChart title="Tokens" bars={tokens} days={DAYS} most={count(Math.max(...tokens.map((bar) => bar.whole)))} caption="The last 30 days. The light part came out of the provider’s cache." />
      {costs.length > 0 && <DayChart title="Cost" bars={costs} days={DAYS} most={money.format(Math.max(...costs.map((bar) => bar.whole)))} caption={`${money.format(total)} in the last 30 days, at the price of the model it has now.`} />}
    </div>
  )
}
