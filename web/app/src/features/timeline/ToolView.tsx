import type { Message } from '@majlis/client'
import { useProgress, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { JsonBlock } from '../../ui/JsonBlock.tsx'
import { preciseDuration } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { MessageFrame } from './MessageFrame.tsx'
import { MessageTime } from './MessageTime.tsx'

const STATUS = { running: msg('running'), complete: msg('done'), error: msg('failed') }

/** A visible tool call, collapsed to its name and status. `first`: it begins a group of messages of its sender. */
export function ToolView({ message, first }: { message: Message; first: boolean }) {
  const tool = message.tool
  const progress = useProgress(tool?.callId ?? '')
  const [open, setOpen] = useState(false)
  if (!tool) return null
  const time = <MessageTime at={message.createdAt} />
  return (
    <MessageFrame sender={message.sender} first={first} aside={time} gutter={time}>
      <details className="mt-1 rounded-md border border-line bg-paper-high text-small" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex cursor-pointer items-center gap-2 px-3 py-1.5">
          <span className="font-mono text-[0.8125rem]">{tool.name}</span>
          <span className={tool.status === 'error' ? 'text-bad' : 'text-ink-soft'}>{t(STATUS[tool.status])}</span>
          {tool.status === 'running' && progress && <span className="min-w-0 truncate text-ink-soft">{progress}</span>}
        </summary>
        <div className="space-y-2 border-t border-line px-3 py-2">
          <JsonBlock label={t('Input')} value={tool.input} />
          {tool.status !== 'running' && <JsonBlock label={t('Output')} value={tool.output} />}
          {open && tool.status !== 'running' && message.runId && <CallDuration runId={message.runId} callId={tool.callId} />}
        </div>
      </details>
    </MessageFrame>
  )
}

/** Read from the journal of the run. */
function CallDuration({ runId, callId }: { runId: string; callId: string }) {
  const { client } = useStore()
  const { data } = useQuery(`steps ${runId}`, () => client.runs.steps(runId))
  const step = data?.find((each) => each.callId === callId)
  if (!step?.endedAt) return null
  return <p className="text-tiny text-ink-soft">{t('Took {time}', { time: preciseDuration(Date.parse(step.endedAt) - Date.parse(step.startedAt)) })}</p>
}
