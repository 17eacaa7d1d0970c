import type { Budget } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { allPages } from '../../ui/allPages.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { money } from '../../ui/format.ts'
import { Trash } from '../../ui/icons.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'

type Scope = Budget['scope']
type Draft = { scope: Scope; id: string; usd: string; tokens: string; spent: number; spentTokens: number }

const SCOPES: Record<Scope, string> = { gateway: msg('All agents together'), space: msg('Space'), agent: msg('Agent'), person: msg('Person'), cause: msg('Each request') }

/** The budgets, edited in place. The whole list is saved at once, as the server keeps it. */
export function Budgets() {
  const { client } = useStore()
  const { data, problem } = useQuery('budgets', () => client.budgets.list())
  if (!data) return <QueryStatus problem={problem} />
  return <Editor given={data.budgets} usdPerDay={data.usdPerDay} />
}

function Editor({ given, usdPerDay }: { given: readonly Budget[]; usdPerDay: number | null }) {
  const { client } = useStore()
  const [saved, setSaved] = useState(() => given.map(draftOf))
  const [drafts, setDrafts] = useState(saved)
  const [problem, setProblem] = useState('')
  const names = useNames()
  const changed = JSON.stringify(drafts) !== JSON.stringify(saved)
  const set = (n: number, part: Partial<Draft>) => setDrafts(drafts.with(n, { ...drafts[n]!, ...part }))
  const save = async () => {
    try {
      const { budgets } = await client.budgets.replace({ budgets: drafts.map(budgetOf) })
      setSaved(budgets.map(draftOf))
      setDrafts(budgets.map(draftOf))
      setProblem('')
      toast(t('Budgets saved'))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <section aria-labelledby="budgets" className="space-y-3">
      <h3 id="budgets" className="text-large">{t('Budgets')}</h3>
      <p className="text-small text-ink-soft">{t('When a budget is spent, agents stop until the next day or until you raise it. A budget is per day. A budget for each request covers everything that one message causes.')}{usdPerDay !== null && ` ${t('The server’s settings limit all agents together to {money} per day.', { money: money(usdPerDay) })}`}</p>
      <ul aria-label={t('Budgets')} className="divide-y divide-line">
        {drafts.map((draft, n) => (
          <li key={n} className="flex flex-wrap items-center gap-2 py-2.5 text-small">
            <select aria-label={t('Budget {n} for', { n: n + 1 })} value={draft.scope} className="field w-auto py-1.5" onChange={(event) => set(n, { scope: event.target.value as Scope, id: '' })}>
              {Object.entries(SCOPES).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}
            </select>
            {(draft.scope === 'space' || draft.scope === 'agent' || draft.scope === 'person') && (
              <select aria-label={t('Budget {n} for which: {scope}', { scope: t(SCOPES[draft.scope]), n: n + 1 })} value={draft.id} className="field w-auto max-w-44 py-1.5" onChange={(event) => set(n, { id: event.target.value })}>
                <option value="">{t('All without their own budget')}</option>
                {names[draft.scope].map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
              </select>
            )}
            <label className="flex items-center gap-1.5"><span className="text-ink-soft">USD</span><input type="number" min="0" step="any" aria-label={t('USD of budget {n}', { n: n + 1 })} value={draft.usd} placeholder={t('No limit')} className="field w-26 py-1.5" onChange={(event) => set(n, { usd: event.target.value })} /></label>
            <label className="flex items-center gap-1.5"><span className="text-ink-soft">{t('Tokens')}</span><input type="number" min="0" step="1" aria-label={t('Tokens of budget {n}', { n: n + 1 })} value={draft.tokens} placeholder={t('No limit')} className="field w-30 py-1.5" onChange={(event) => set(n, { tokens: event.target.value })} /></label>
            <IconButton label={t('Remove budget {n}', { n: n + 1 })} className="ms-auto size-8" onClick={() => setDrafts(drafts.toSpliced(n, 1))}><Trash className="size-4" /></IconButton>
            <Spent draft={saved[n] && sameTarget(saved[n], draft) ? draft : null} />
          </li>
        ))}
      </ul>
      {drafts.length === 0 && <p className="text-small text-ink-soft">{t('No budgets. Spending is not limited.')}</p>}
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => setDrafts([...drafts, { scope: 'gateway', id: '', usd: '', tokens: '', spent: 0, spentTokens: 0 }])}>{t('Add budget')}</Button>
        {changed && <Button look="primary" onClick={() => void save()}>{t('Save budgets')}</Button>}
        {changed && <Button look="quiet" onClick={() => setDrafts(saved)}>{t('Undo changes')}</Button>}
        <p role="alert" className="text-small text-bad empty:hidden">{problem}</p>
      </div>
    </section>
  )
}

/** A bar of what is spent of the stricter limit. */
function Spent({ draft }: { draft: Draft | null }) {
  if (!draft || (!draft.usd && !draft.tokens)) return null
  const part = Math.max(draft.usd ? draft.spent / Math.max(Number(draft.usd), Number.MIN_VALUE) : 0, draft.tokens ? draft.spentTokens / Math.max(Number(draft.tokens), 1) : 0)
  const text = [draft.usd ? t('{part} of {whole}', { part: money(draft.spent), whole: money(Number(draft.usd)) }) : '', draft.tokens ? t('{part} of {whole} tokens', { part: draft.spentTokens, whole: Number(draft.tokens) }) : ''].filter(Boolean).join(', ')
  return (
    <span className="flex w-full items-center gap-3 text-ink-soft">
      <span aria-hidden className="h-1.5 w-40 overflow-hidden rounded-full bg-line"><span className={`block h-full rounded-full ${part >= 1 ? 'bg-bad' : part > 0.8 ? 'bg-decide' : 'bg-agent'}`} style={{ width: `${Math.min(100, part * 100)}%` }} /></span>
      {t('{amount} spent', { amount: text })}
    </span>
  )
}

function useNames(): Record<'space' | 'agent' | 'person', readonly { id: string; name: string }[]> {
  const { client } = useStore()
  const { data } = useQuery('budget names', async () => {
    const [agent, person, space] = await Promise.all([allPages((page) => client.agents.list(page)), allPages((page) => client.entities.list({ type: 'human', ...page })), allPages((page) => client.spaces.listAll(page))])
    return { agent, person, space }
  })
  return data ?? { agent: [], person: [], space: [] }
}

const sameTarget = (one: Draft, other: Draft): boolean => one.scope === other.scope && one.id === other.id

const draftOf = (budget: Budget): Draft => ({ scope: budget.scope, id: budget.id ?? '', usd: budget.usd?.toString() ?? '', tokens: budget.tokens?.toString() ?? '', spent: budget.spent ?? 0, spentTokens: budget.spentTokens ?? 0 })

const budgetOf = ({ scope, id, usd, tokens }: Draft) => ({ scope, ...(id ? { id } : {}), ...(usd === '' ? {} : { usd: Number(usd) }), ...(tokens === '' ? {} : { tokens: Number(tokens) }) })
