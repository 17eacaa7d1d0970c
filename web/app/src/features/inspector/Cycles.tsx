import type { Cycle } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, plural, t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { Button } from '../../ui/Button.tsx'
import { dot } from '../../ui/format.ts'
import { brief, fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { textOf, type ProviderMessage } from './promptBlocks.ts'

const PAGE = 20

/** The cycles of a consciousness agent, newest first: the summary, and the full messages. */
export function Cycles({ agentId }: { agentId: string }) {
  const { client } = useStore()
  const { data, problem } = useQuery(`cycles ${agentId}`, () => client.agents.consciousness(agentId, { limit: PAGE }))
  const [more, setMore] = useState<{ cycles: readonly Cycle[]; hasMore: boolean }>({ cycles: [], hasMore: true })
  if (problem) return <p role="alert" className="text-small text-bad">{problem}</p>
  if (!data || data.cycles.length === 0) return null
  const cycles = [...data.cycles, ...more.cycles]
  const load = async () => {
    const page = await client.agents.consciousness(agentId, { limit: PAGE, before: cycles.at(-1)!.n })
    setMore({ cycles: [...more.cycles, ...page.cycles], hasMore: page.hasMore })
  }
  return (
    <section>
      <h4 className="mb-1 font-sans text-small text-ink-soft">{t('Cycles')}</h4>
      <ol className="space-y-1.5 text-small">{cycles.map((cycle) => <li key={cycle.n}><CycleView cycle={cycle} /></li>)}</ol>
      {data.hasMore && more.hasMore && <Button className="mt-2" onClick={() => void load().catch(() => {})}>{t('Load earlier cycles')}</Button>}
    </section>
  )
}

function CycleView({ cycle }: { cycle: Cycle }) {
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-2">
        <b className="font-semibold tabular-nums">{cycle.n}</b> {cycle.summary ?? t('No summary')}
        <span className="block text-tiny text-ink-soft"><time dateTime={cycle.createdAt} title={fullTime(cycle.createdAt)}>{brief(cycle.createdAt)}</time>{dot()}{plural(cycle.tokens, '{n} token', '{n} tokens')}</span>
      </summary>
      <div className="space-y-2 border-t border-line p-3">
        {cycle.messages.map((message, n) => <Line key={n} message={message as ProviderMessage} />)}
        <button type="button" className="rounded-sm text-ink-soft underline underline-offset-4 hover:text-ink" onClick={() => inspect({ kind: 'run', id: cycle.runId })}>{t('View run')}</button>
      </div>
    </details>
  )
}

const NAMES: Record<string, string> = { user: msg('Input'), assistant: msg('Response'), tool: msg('Tool result'), system: msg('System') }

function Line({ message }: { message: ProviderMessage }) {
  const name = NAMES[message.role ?? ''] ? t(NAMES[message.role ?? '']!) : (message.role ?? '')
  return (
    <div>
      <p className="text-tiny text-ink-soft">{name}</p>
      <pre tabIndex={0} aria-label={name} className="max-h-56 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{textOf(message)}</pre>
    </div>
  )
}
