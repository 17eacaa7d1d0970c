import type { Context, Run, Step } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { useQuery } from '../../ui/useQuery.ts'
import { BlockList } from './BlockList.tsx'
import { blocksOf, type Block } from './promptBlocks.ts'
import { count, some } from './runText.tsx'

interface Seen {
  context: Context
  steps: readonly Step[]
  before: readonly Block[]
}

/** The exact words that the model was given, block by block. What came out of the provider's cache is shaded. */
export function PromptView({ run }: { run: Run }) {
  const { client } = useStore()
  const [comparing, setComparing] = useState(false)
  const { data, problem } = useQuery<Seen>(`saw ${run.id}`, async () => {
    const [context, steps, earlier] = await Promise.all([client.runs.context(run.id), client.runs.steps(run.id), client.runs.list({ agentId: run.agentId, before: run.id, limit: 1 })])
    const last = earlier.runs[0] ? (await client.runs.context(earlier.runs[0].id)).requests[0] : undefined
    return { context, steps, before: last ? blocksOf(last, 0, 0) : [] }
  })
  if (problem) return <p role="alert" className="mt-2 text-small text-bad">{problem}</p>
  if (!data) return <p className="mt-2 text-small text-ink-soft">Looking…</p>
  if (data.context.requests.length === 0) return <p className="mt-2 text-small text-ink-soft">Nothing is kept of it: the model has not answered yet, or it was too long ago.</p>
  return (
    <div className="mt-3 space-y-4">
      {data.before.length > 0 && (
        <label className="flex items-center gap-2 text-small"><input type="checkbox" className="accent-warm" checked={comparing} onChange={(event) => setComparing(event.target.checked)} /> Compare with the run before</label>
      )}
      {data.context.requests.map((request, n) => {
        const usage = data.steps.find((step) => step.kind === 'model' && step.n === request.step)?.usage
        const blocks = blocksOf(request, usage?.inputTokens ?? 0, usage?.cachedTokens ?? 0)
        return (
          <section key={request.step} aria-label={`Request ${n + 1}`}>
            <h4 className="mb-1 text-small text-ink-soft">
              Request {n + 1} · {count(usage?.inputTokens ?? 0)} tokens, {count(usage?.cachedTokens ?? 0)} cached · {some(request.tools.length, 'tool')}
            </h4>
            <BlockList blocks={blocks} before={comparing ? data.before : null} />
          </section>
        )
      })}
    </div>
  )
}
