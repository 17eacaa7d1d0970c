import type { DayUsage } from '@majlis/client'

import { count, plural, t } from '../../language/words.ts'
import { byLocale } from '../../language/language.ts'
import { utcDay } from '../../ui/time.ts'
import { tokensText } from './runText.tsx'
import { DayChart } from './DayChart.tsx'

const DAYS = 30
const figures = byLocale((locale) => new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 }))

/** Tokens per day, and cost if the price of the model is configured. */
export function UsageByDay({ days }: { days: readonly DayUsage[] }) {
  if (days.length === 0) return null
  const priced = days.flatMap((each) => (each.cost === null ? [] : [{ ...each, cost: each.cost }]))
  const tokens = days.map((each) => ({ day: each.day, total: each.inputTokens + each.outputTokens, light: each.cachedTokens, label: t('{day}: {tokens}', { day: utcDay(each.day), tokens: tokensText(each) }) }))
  const costs = priced.map((each) => ({ day: each.day, total: each.cost, label: `${utcDay(each.day)}: ${figures().format(each.cost)}` }))
  const total = priced.reduce((sum, each) => sum + each.cost, 0)
  return (
    <div className="space-y-4">
      <DayChart title={t('Tokens')} bars={tokens} days={DAYS} peak={count(Math.max(...tokens.map((bar) => bar.total)))} caption={plural(DAYS, 'Last day. Lighter bars are cached tokens.', 'Last {n} days. Lighter bars are cached tokens.')} />
      {costs.length > 0 && <DayChart title={t('Cost')} bars={costs} days={DAYS} peak={figures().format(Math.max(...costs.map((bar) => bar.total)))} caption={plural(DAYS, '{money} in the last day, at the price of the current model.', '{money} in the last {n} days, at the price of the current model.', { money: figures().format(total) })} />}
    </div>
  )
}
