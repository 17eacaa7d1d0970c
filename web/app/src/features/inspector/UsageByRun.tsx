import type { Run } from '@majlis/client'

import { inspect } from '../../router.ts'
import { count } from './runText.tsx'

const HEIGHT = 56

/** Tokens of the latest runs, oldest first: the whole bar is what went in, the shaded foot came out of the cache. */
export function UsageByRun({ runs }: { runs: readonly Run[] }) {
  const shown = runs.filter((run) => run.usage.inputTokens > 0).toReversed()
  const most = Math.max(1, ...shown.map((run) => run.usage.inputTokens))
  if (shown.length < 2) return null
  const width = 100 / Math.max(20, shown.length)
  return (
    <figure>
      <svg role="img" aria-label={`Tokens of the last ${shown.length} runs, at most ${count(most)}`} viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" className="h-14 w-full">
        {shown.map((run, n) => {
          const all = (run.usage.inputTokens / most) * HEIGHT
          const cached = (run.usage.cachedTokens / most) * HEIGHT
          return (
            <g key={run.id} className="cursor-pointer" onClick={() => inspect({ kind: 'run', id: run.id })}>
              <title>{`${count(run.usage.inputTokens)} in, ${count(run.usage.cachedTokens)} cached, ${count(run.usage.outputTokens)} out`}</title>
              <rect x={n * width} y={HEIGHT - all} width={width * 0.8} height={all} className="fill-agent" />
              <rect x={n * width} y={HEIGHT - cached} width={width * 0.8} height={cached} className="fill-agent-mid" />
            </g>
          )
        })}
      </svg>
      <figcaption className="text-tiny text-ink-soft">Tokens of the last {shown.length} runs; the light part came out of the cache.</figcaption>
    </figure>
  )
}
