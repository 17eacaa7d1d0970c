import type { Run, Step } from '@majlis/client'
import { useStore } from '@majlis/client/react'

import { spanOf } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { count } from './runText.tsx'

/** The journal of a run on a line of time. */
export function Steps({ run, state }: { run: Run; state: string }) {
  const store = useStore()
  const { data, problem } = useQuery(`steps ${run.id}`, () => store.client.runs.steps(run.id), state)
  if (problem) return <p role="alert" className="text-small text-bad">{problem}</p>
  return (
    <section>
      <h3 className="mb-2 font-sans text-small text-ink-soft">Steps</h3>
      <ol className="relative ml-1 space-y-1 border-l border-line pl-4">
        {data?.map((step) => <li key={`${step.kind} ${step.n} ${step.callId ?? ''}`}><StepView step={step} place={placeOf(step, data)} /></li>)}
      </ol>
    </section>
  )
}

interface InTime {
  left: string
  width: string
}

/** When it began and how long it took, as parts of the whole. */
function placeOf(step: Step, all: readonly Step[]): InTime {
  const end = (each: Step) => (each.endedAt ? Date.parse(each.endedAt) : Date.now())
  const first = Math.min(...all.map((each) => Date.parse(each.startedAt)))
  const whole = Math.max(1, Math.max(...all.map(end)) - first)
  const began = Date.parse(step.startedAt)
  return { left: `${((began - first) / whole) * 100}%`, width: `${Math.max(0.5, ((end(step) - began) / whole) * 100)}%` }
}

function StepView({ step, place }: { step: Step; place: InTime }) {
  const took = step.endedAt ? spanOf(Date.parse(step.endedAt) - Date.parse(step.startedAt)) : 'under way'
  const dot = step.state === 'error' ? 'bg-bad' : step.kind === 'model' ? 'bg-line-strong' : 'bg-agent'
  return (
    <details className="group/step">
      <summary className="relative flex cursor-pointer flex-wrap items-baseline gap-x-2 gap-y-0.5 rounded-sm text-small">
        <span aria-hidden className={`absolute top-1.5 -left-[1.3125rem] size-2 rounded-full ring-4 ring-paper ${dot}`} />
        <span className={step.kind === 'tool' ? 'font-mono text-[0.8125rem]' : ''}>{step.kind === 'model' ? 'Model' : step.name}</span>
        {step.state === 'error' && <span className="text-bad">failed</span>}
        <span className="ml-auto text-tiny text-ink-soft tabular-nums">
          {step.usage && `${count(step.usage.inputTokens)} → ${count(step.usage.outputTokens)} · `}{took}
        </span>
        <span aria-hidden className="relative h-0.5 basis-full overflow-hidden rounded-full bg-line"><span className={`absolute inset-y-0 rounded-full ${dot}`} style={place} /></span>
      </summary>
      <div className="mt-1 mb-2 space-y-2">
        {step.kind === 'tool' && <Json label="Input" value={step.input} />}
        <Json label="Output" value={step.output} />
      </div>
    </details>
  )
}

function Json({ label, value }: { label: string; value: unknown }) {
  if (value === null || value === undefined) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div>
      <p className="text-tiny text-ink-soft">{label}</p>
      <pre tabIndex={0} aria-label={label} className="max-h-72 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{text}</pre>
    </div>
  )
}
