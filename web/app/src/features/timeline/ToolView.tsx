import type { Message } from '@majlis/client'
import { useProgress, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { fullTime, spanOf, timeOf } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { MessageFrame } from './MessageFrame.tsx'

const WORDS = { running: 'running', complete: 'done', error: 'failed' }

/** A tool that an agent has used where everybody can see it. Collapsible: its name tells most. */
export function ToolView({ message }: { message: Message }) {
  const tool = message.tool
  const progress = useProgress(tool?.callId ?? '')
  const [open, setOpen] = useState(false)
  if (!tool) return null
  const time = <time dateTime={message.createdAt} title={fullTime(message.createdAt)} className="text-tiny text-ink-soft tabular-nums">{timeOf(message.createdAt)}</time>
  return (
    <MessageFrame sender={message.sender} first aside={time}>
      <details className="mt-1 rounded-md border border-line bg-paper-high text-small" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex cursor-pointer items-center gap-2 px-3 py-1.5">
          <span className="font-mono text-[0.8125rem]">{tool.name}</span>
          <span className={tool.status === 'error' ? 'text-bad' : 'text-ink-soft'}>{WORDS[tool.status]}</span>
          {tool.status === 'running' && progress && <span className="min-w-0 truncate text-ink-soft">{progress}</span>}
        </summary>
        <div className="space-y-2 border-t border-line px-3 py-2">
          <Json label="Input" value={tool.input} />
          {tool.status !== 'running' && <Json label="Output" value={tool.output} />}
          {open && tool.status !== 'running' && message.runId && <Took runId={message.runId} callId={tool.callId} />}
        </div>
      </details>
    </MessageFrame>
  )
}

/** How long it worked: the run's journal knows. */
function Took({ runId, callId }: { runId: string; callId: string }) {
  const { client } = useStore()
  const { data } = useQuery(`steps ${runId}`, () => client.runs.steps(runId))
  const step = data?.find((each) => each.callId === callId)
  if (!step?.endedAt) return null
  return <p className="text-tiny text-ink-soft">Took {spanOf(Date.parse(step.endedAt) - Date.parse(step.startedAt))}</p>
}

function Json({ label, value }: { label: string; value: unknown }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return (
    <div>
      <p className="text-tiny text-ink-soft">{label}</p>
      <pre tabIndex={0} aria-label={label} className="max-h-64 overflow-auto font-mono text-tiny whitespace-pre-wrap">{text}</pre>
    </div>
  )
}
