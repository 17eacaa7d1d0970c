import type { SpaceState, Stream } from '@majlis/client'
import { useMe } from '@majlis/client/react'
import { useDeferredValue } from 'react'

import { t } from '../../language/words.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { MessageFrame } from './MessageFrame.tsx'

/** The text that an agent is writing, or the input of a visible tool. Screen readers get the finished message instead (LiveRegion). */
export function StreamView({ stream, space, names }: { stream: Stream; space: SpaceState; names: readonly string[] }) {
  const me = useMe()
  // Typing has priority over rendering the stream.
  const text = useDeferredValue(stream.text)
  const agent = space.members.find((member) => member.id === stream.agentId)
  const sender = { id: stream.agentId, name: agent?.name ?? t('An agent'), type: 'agent' as const }
  return (
    <div aria-busy="true" data-stream={stream.streamId}>
      <MessageFrame sender={sender} first aside={<span className="text-tiny text-ink-soft">{stream.tool === null ? t('is writing') : t('is calling a tool')}</span>}>
        {stream.tool !== null && <Input tool={stream.tool} text={text} />}
        {stream.tool === null && (text ? <Markdown text={text} names={names} me={me?.name ?? ''} /> : <Dots />)}
      </MessageFrame>
    </div>
  )
}

/** Looks like the call in its message, which follows. */
function Input({ tool, text }: { tool: string; text: string }) {
  return (
    <div className="mt-1 rounded-md border border-line bg-paper-high px-3 py-1.5 font-mono text-[0.8125rem]">
      {tool}
      <pre className="max-h-40 overflow-auto text-tiny break-words whitespace-pre-wrap text-ink-soft">{text}</pre>
    </div>
  )
}

export function Dots() {
  return (
    <span aria-hidden className="inline-flex gap-1 py-2">
      {[0, 200, 400].map((delay) => (
        <span key={delay} className="size-1.5 animate-breathe rounded-full bg-agent" style={{ animationDelay: `${delay}ms` }} />
      ))}
    </span>
  )
}
