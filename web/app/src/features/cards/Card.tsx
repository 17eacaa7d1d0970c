import type { Message, Tool } from '@majlis/client'
import { useMe, useSpace, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { fullTime, lasting, timeOf, useNow } from '../../ui/time.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { plainText } from '../markdown/plainText.ts'
import { MessageFrame } from '../timeline/MessageFrame.tsx'
import { CardResult } from './CardResult.tsx'
import { Approval } from './Approval.tsx'
import { Choice } from './Choice.tsx'
import { Form } from './Form.tsx'

const ASKS = { approval: Approval, choice: Choice, form: Form }

export interface AskProps {
  tool: Tool
  busy: boolean
  onAnswer: (result: unknown) => void
}

/** Something that an agent asks the people here: may I, which one, what shall stand in it. The first answer counts, in every tab. */
export function Card({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  const role = useSpace(message.spaceId)?.members.find((member) => member.id === me.id)?.role
  const open = tool.status === 'running'
  const time = <time dateTime={message.createdAt} title={fullTime(message.createdAt)} className="text-tiny text-ink-soft">{timeOf(message.createdAt)}</time>
  return (
    <MessageFrame sender={message.sender} first aside={time}>
      <section aria-label={`${message.sender.name} asks: ${plainText(message.text).slice(0, 80) || tool.name}, ${timeOf(message.createdAt)}`} className={`mt-1 max-w-xl rounded-lg border p-4 ${open ? 'border-warm bg-paper-high shadow-low' : 'border-line bg-paper-low'}`}>
        <Question message={message} tool={tool} names={names} />
        {!open && <CardResult tool={tool} />}
        {open && role === 'viewer' && <p className="mt-2 text-small text-ink-soft">You may read here, not decide.</p>}
        {open && role !== 'viewer' && <Asking message={message} tool={tool} />}
      </section>
    </MessageFrame>
  )
}

function Question({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  if (tool.purpose === 'permission') {
    return (
      <>
        <p>May I use <b className="font-mono text-[0.9em] font-semibold">{tool.name}</b>?</p>
        <pre tabIndex={0} aria-label="Input" className="mt-2 max-h-48 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{JSON.stringify(tool.input, null, 2)}</pre>
      </>
    )
  }
  return message.text ? <Markdown text={message.text} names={names} me={me.name} /> : <p className="font-mono text-[0.9em]">{tool.name}</p>
}

function Asking({ message, tool }: { message: Message; tool: Tool }) {
  const store = useStore()
  const now = useNow()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const Ask = ASKS[tool.ui as keyof typeof ASKS] ?? Form
  const answer = (result: unknown) => {
    setBusy(true)
    setProblem('')
    store.client.runs.submit(message.runId!, { toolCallId: tool.callId, result }).then(
      // The event that tells everybody brings the new state here, too.
      () => {},
      (error: Error) => {
        setBusy(false)
        setProblem(error.message)
      },
    )
  }
  const left = tool.expiresAt ? Date.parse(tool.expiresAt) - now : null
  return (
    <>
      <Ask tool={tool} busy={busy} onAnswer={answer} />
      <p role="alert" className="text-small text-bad empty:hidden">{problem}</p>
      {left !== null && left > 0 && <p className="mt-2 text-tiny text-ink-soft">{left < 3_600_000 ? `${lasting(left)} left` : `until ${fullTime(tool.expiresAt!)}`}</p>}
    </>
  )
}
