import type { Run } from '@majlis/client'

import { plural } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { tokensText } from './runText.tsx'

const HEIGHT = 56

/** Input tokens of the latest runs, oldest first. The lighter part was cached. */
export function UsageByRun({ runs }: { runs: readonly Run[] }) {
  const shown = runs.filter((run) => run.usage.inputTokens > 0).toReversed()
  const peak = Math.max(1, ...shown.map((run) => run.usage.inputTokens))
  if (shown.length < 2) return null
  const width = 100 / Math.max(20, shown.length)
  return (
    <figure>
      <svg role="img" aria-label={plural(shown.length, 'Input tokens of the last run, peak {peak}', 'Input tokens of the last {n} runs, peak {peak}', { peak })} viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" className="h-14 w-full rtl:-scale-x-100">
        {shown.map((run, n) => {
          const all = (run.usage.inputTokens / peak) * HEIGHT
          const cached = (run.usage.cachedTokens / peak) * HEIGHT
          return (
            <g key={run.id} className="cursor-pointer" onClick={() => inspect({ kind: 'run', id: run.id })}>
              <title>{tokensText(run.usage)}</title>
              <rect x={n * width} y={HEIGHT - all} width={width * 0.8} height={all} className="fill-agent" />
              <rect x={n * width} y={HEIGHT - cached} width={width * 0.8} height={cached} className="fill-agent-mid" />
            </g>
          )
        })}
      </svg>
      <figcaption className="text-tiny text-ink-soft">{plural(shown.length, 'Input tokens of the last run. Lighter bars are cached tokens.', 'Input tokens of the last {n} runs. Lighter bars are cached tokens.')}</figcaption>
    </figure>
  )
}
