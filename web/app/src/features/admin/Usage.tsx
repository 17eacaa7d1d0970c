import type { UsageRow } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { count, msg, plural, t } from '../../language/words.ts'
import { money } from '../../ui/format.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { utcDay } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { Budgets } from './Budgets.tsx'
import { DayChart } from '../inspector/DayChart.tsx'
import { tokensText } from '../inspector/runText.tsx'

const DAY = 86_400_000
const BY = { agent: msg('Agent'), space: msg('Space'), person: msg('Person'), model: msg('Model') } as const
const SPANS = [7, 30, 90] as const

/** The cost of the runs that the user may see, by day and by agent, space, person or model. */
export function Usage() {
  const { client } = useStore()
  const [by, setBy] = useState<keyof typeof BY>('agent')
  const [days, setDays] = useState<(typeof SPANS)[number]>(30)
  const from = new Date(Date.now() - (days - 1) * DAY).toISOString().slice(0, 10)
  const daily = useQuery(`usage day ${from}`, () => client.usage({ by: 'day', from }))
  const { data, problem } = useQuery(`usage ${by} ${from}`, () => client.usage({ by, from }))
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap gap-3 text-small">
        <label className="flex items-center gap-2"><span className="text-ink-soft">{t('Group by')}</span>
          <select value={by} className="field w-auto" onChange={(event) => setBy(event.target.value as keyof typeof BY)}>{Object.entries(BY).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}</select>
        </label>
        <label className="flex items-center gap-2"><span className="text-ink-soft">{t('Period')}</span>
          <select value={days} className="field w-auto" onChange={(event) => setDays(Number(event.target.value) as (typeof SPANS)[number])}>{SPANS.map((span) => <option key={span} value={span}>{plural(span, 'Last day', 'Last {n} days')}</option>)}</select>
        </label>
      </div>
      {daily.data?.rows.some((row) => row.inputTokens + row.outputTokens > 0) && <Days rows={daily.data.rows} days={days} />}
      {data ? <Table rows={data.rows} by={t(BY[by])} /> : <QueryStatus problem={problem} />}
      <Budgets />
    </div>
  )
}

function Days({ rows, days }: { rows: readonly UsageRow[]; days: number }) {
  const tokens = rows.map((row) => ({ day: row.key!, total: row.inputTokens + row.outputTokens, light: row.cachedTokens, label: t('{day}: {tokens}', { day: utcDay(row.key!), tokens: tokensText(row) }) }))
  const priced = rows.filter((row) => row.cost !== null)
  const costs = priced.map((row) => ({ day: row.key!, total: row.cost!, label: `${utcDay(row.key!)}: ${money(row.cost)}` }))
  const total = priced.reduce((sum, row) => sum + row.cost!, 0)
  return (
    <div className={`grid gap-6 ${costs.length > 0 ? 'md:grid-cols-2' : ''}`}>
      <DayChart title={t('Tokens')} bars={tokens} days={days} peak={count(Math.max(...tokens.map((bar) => bar.total)))} caption={plural(days, 'Last day. Lighter bars are cached tokens.', 'Last {n} days. Lighter bars are cached tokens.')} />
      {costs.length > 0 && <DayChart title={t('Cost')} bars={costs} days={days} peak={money(Math.max(...costs.map((bar) => bar.total)))} caption={plural(days, '{money} in the last day.', '{money} in the last {n} days.', { money: money(total) })} />}
    </div>
  )
}

function Table({ rows, by }: { rows: readonly UsageRow[]; by: string }) {
  if (rows.length === 0) return <p className="text-ink-soft">{t('No runs in this period')}</p>
  const size = (row: UsageRow) => (rows.some((each) => each.cost) ? (row.cost ?? 0) : row.inputTokens + row.outputTokens)
  const largest = Math.max(...rows.map(size), Number.MIN_VALUE)
  const unpriced = rows.reduce((sum, row) => sum + row.unpricedRuns, 0)
  return (
    <div role="group" aria-label={t('Usage')} tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-small tabular-nums">
        <thead><tr className="border-b border-line text-ink-soft">{[by, t('Runs'), t('Input tokens'), t('Output tokens'), t('Cost')].map((name, n) => <th key={name} scope="col" className={`py-1.5 pe-4 font-medium ${n > 0 ? 'text-end' : 'text-start'}`}>{name}</th>)}</tr></thead>
        <tbody>
          {rows.toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.inputTokens - a.inputTokens).map((row) => (
            <tr key={row.key ?? ''} className="border-b border-line">
              <th scope="row" className="max-w-60 min-w-40 py-1.5 pe-4 text-start font-medium">
                <bdi className="block truncate text-along">{row.name || t('None')}</bdi>
                <span aria-hidden className="mt-1 block h-1.5 rounded-full bg-agent" style={{ width: `${size(row) > 0 ? Math.max(1, (size(row) / largest) * 100) : 0}%` }} />
              </th>
              {[count(row.runs), count(row.inputTokens), count(row.outputTokens), money(row.cost)].map((value, n) => <td key={n} className="py-1.5 pe-4 text-end">{value}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      {unpriced > 0 && <p className="mt-2 text-small text-ink-soft">{plural(unpriced, 'The cost excludes {n} run whose model has no known price.', 'The cost excludes {n} runs whose model has no known price.')}</p>}
    </div>
  )
}
