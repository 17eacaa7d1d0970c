import type { Context, Run, Step } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { plural, t } from '../../language/words.ts'
import { dot } from '../../ui/format.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { BudgetBar } from './BudgetBar.tsx'
import { BlockList } from './BlockList.tsx'
import { blocksOf, type Block } from './promptBlocks.ts'

interface Prompt {
  context: Context
  steps: readonly Step[]
  before: readonly Block[]
}

/** The exact prompt, block by block. The part that the provider had cached is shaded. */
export function PromptView({ run }: { run: Run }) {
  const { client } = useStore()
  const [comparing, setComparing] = useState(false)
  const { data, problem } = useQuery<Prompt>(`prompt ${run.id}`, async () => {
    const [context, steps, earlier] = await Promise.all([client.runs.context(run.id), client.runs.steps(run.id), client.runs.list({ agentId: run.agentId, before: run.id, limit: 1 })])
    const last = earlier.runs[0] ? (await client.runs.context(earlier.runs[0].id)).requests[0] : undefined
    return { context, steps, before: last ? blocksOf(last, 0, 0) : [] }
  })
  if (!data) return <QueryStatus problem={problem} className="mt-2" />
  if (data.context.requests.length === 0) return <p className="mt-2 text-small text-ink-soft">{t('No prompt stored. The model hasn’t answered yet, or the prompt has expired.')}</p>
  return (
    <div className="mt-3 space-y-4">
      {data.before.length > 0 && (
        <label className="flex items-center gap-2 text-small"><input type="checkbox" className="accent-link" checked={comparing} onChange={(event) => setComparing(event.target.checked)} /> {t('Compare with previous run')}</label>
      )}
      {data.context.requests.map((request, n) => {
        const usage = data.steps.find((step) => step.kind === 'model' && step.n === request.step)?.usage
        const blocks = blocksOf(request, usage?.inputTokens ?? 0, usage?.cachedTokens ?? 0)
        return (
          <section key={request.step} aria-label={t('Request {n}', { n: n + 1 })}>
            <h4 className="mb-1 text-small text-ink-soft">
              {t('Request {n}', { n: n + 1 })}{dot()}{plural(usage?.inputTokens ?? 0, '{n} input token', '{n} input tokens')} ({t('{n} cached', { n: usage?.cachedTokens ?? 0 })}){dot()}{plural(request.tools.length, '{n} tool', '{n} tools')}
            </h4>
            {data.context.budgets[n] && <BudgetBar budget={data.context.budgets[n]} />}
            <BlockList blocks={blocks} before={comparing ? data.before : null} />
          </section>
        )
      })}
    </div>
  )
}
