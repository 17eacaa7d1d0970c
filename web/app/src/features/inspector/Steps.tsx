import type { Run, Step } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { dot, money } from '../../ui/format.ts'
import { JsonBlock } from '../../ui/JsonBlock.tsx'
import { preciseDuration } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

/** The journal of a run as a timeline. */
export function Steps({ run, version }: { run: Run; version: string }) {
  const store = useStore()
  const { data, problem } = useQuery(`steps ${run.id}`, () => store.client.runs.steps(run.id), version)
  const [shown, setShown] = useState<Filter>('all')
  if (problem) return <p role="alert" className="text-small text-bad">{problem}</p>
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h3 className="me-auto font-sans text-small text-ink-soft">{t('Steps')}</h3>
        {data && data.length > 1 && <Filters steps={data} shown={shown} onShow={setShown} />}
      </div>
      <ol className="relative ms-1 space-y-1 border-s border-line ps-4">
        {data?.filter(FILTERS[shown].fits).map((step) => <li key={`${step.kind} ${step.n} ${step.callId ?? ''}`}><StepView step={step} span={spanOf(step, data)} /></li>)}
      </ol>
    </section>
  )
}

const FILTERS = {
  all: { label: msg('All'), fits: () => true },
  model: { label: msg('Model'), fits: (step: Step) => step.kind === 'model' },
  tools: { label: msg('Tools'), fits: (step: Step) => step.kind === 'tool' },
  failed: { label: msg('Failed'), fits: (step: Step) => step.state === 'error' },
}
type Filter = keyof typeof FILTERS

/** Only filters that show a part of the steps. */
function Filters({ steps, shown, onShow }: { steps: readonly Step[]; shown: Filter; onShow: (filter: Filter) => void }) {
  const useful = (Object.keys(FILTERS) as Filter[]).filter((key) => key === 'all' || key === shown || (steps.some(FILTERS[key].fits) && !steps.every(FILTERS[key].fits)))
  if (useful.length < 2) return null
  return (
    <div role="group" aria-label={t('Show steps')} className="flex gap-0.5">
      {useful.map((key) => <button key={key} type="button" aria-pressed={key === shown} className="rounded-md px-2 py-0.5 text-tiny text-ink-soft hover:bg-hover aria-pressed:bg-hover aria-pressed:font-semibold aria-pressed:text-ink" onClick={() => onShow(key)}>{t(FILTERS[key].label)}</button>)}
    </div>
  )
}

interface Span {
  insetInlineStart: string
  width: string
}

/** Start and duration of a step, relative to the whole run. */
function spanOf(step: Step, all: readonly Step[]): Span {
  const end = (each: Step) => (each.endedAt ? Date.parse(each.endedAt) : Date.now())
  const first = Math.min(...all.map((each) => Date.parse(each.startedAt)))
  const whole = Math.max(1, Math.max(...all.map(end)) - first)
  const start = Date.parse(step.startedAt)
  return { insetInlineStart: `${((start - first) / whole) * 100}%`, width: `${Math.max(0.5, ((end(step) - start) / whole) * 100)}%` }
}

function StepView({ step, span }: { step: Step; span: Span }) {
  const time = step.endedAt ? preciseDuration(Date.parse(step.endedAt) - Date.parse(step.startedAt)) : t('in progress')
  const sign = step.state === 'error' ? '✕' : step.state === 'started' ? '…' : '✓'
  const look = step.state === 'error' ? 'bg-bad' : step.kind === 'model' ? 'bg-line-strong' : 'bg-agent'
  return (
    <details className="group/step">
      <summary className="relative flex cursor-pointer flex-wrap items-baseline gap-x-2 gap-y-0.5 rounded-sm text-small">
        <span aria-hidden className={`absolute top-1.5 -start-[1.3125rem] size-2 rounded-full ring-4 ring-paper ${look}`} />
        <span className={step.kind === 'tool' ? 'font-mono text-[0.8125rem]' : ''}>{step.kind === 'model' ? t('Model') : step.name}</span>
        <span aria-hidden className={step.state === 'error' ? 'text-bad' : 'text-ink-soft'}>{sign}</span>
        {step.state === 'error' && <span className="text-bad">{t('failed')}</span>}
        <span className="ms-auto text-tiny text-ink-soft tabular-nums">
          {step.usage && `${t('{input} → {output}', { input: step.usage.inputTokens, output: step.usage.outputTokens })}${dot()}`}{step.usage?.cost !== undefined && step.usage.cost > 0 && `${money(step.usage.cost)}${dot()}`}{time}
        </span>
        <span aria-hidden className="relative h-0.5 basis-full overflow-hidden rounded-full bg-line"><span className={`absolute inset-y-0 rounded-full ${look}`} style={span} /></span>
      </summary>
      <div className="mt-1 mb-2 space-y-2">
        {step.kind === 'tool' && step.input != null && <JsonBlock label={t('Input')} value={step.input} />}
        {step.output != null && <JsonBlock label={t('Output')} value={step.output} />}
      </div>
    </details>
  )
}
