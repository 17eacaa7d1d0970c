import type { Message, Tool } from '@majlis/client'
import { useMe, useSpace, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { duration, fullTime, timeOf, useNow } from '../../ui/time.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { plainText } from '../markdown/plainText.ts'
import { MessageFrame } from '../timeline/MessageFrame.tsx'
import { MessageTime } from '../timeline/MessageTime.tsx'
import { CardResult } from './CardResult.tsx'
import { Approval } from './Approval.tsx'
import { Choice } from './Choice.tsx'
import { Form } from './Form.tsx'

const CONTROLS = { approval: Approval, choice: Choice, form: Form }

export interface ControlProps {
  tool: Tool
  busy: boolean
  onAnswer: (result: unknown) => void
}

/** An agent's question to people. The first answer closes it for everyone. */
export function Card({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  const role = useSpace(message.spaceId)?.members.find((member) => member.id === me.id)?.role
  const open = tool.status === 'running'
  return (
    <MessageFrame sender={message.sender} first aside={<MessageTime at={message.createdAt} />}>
      <section aria-label={`${message.sender.name} asks: ${plainText(message.text).slice(0, 80) || tool.name}, ${timeOf(message.createdAt)}`} className={`mt-1 max-w-xl rounded-lg border p-4 ${open ? 'border-warm bg-paper-high shadow-low' : 'border-line bg-paper-low'}`}>
        <Question message={message} tool={tool} names={names} />
        {!open && <CardResult tool={tool} />}
        {open && role === 'viewer' && <p className="mt-2 text-small text-ink-soft">You’re a viewer in this space, so you can’t answer.</p>}
        {open && role !== 'viewer' && <Answer message={message} tool={tool} />}
      </section>
    </MessageFrame>
  )
}

function Question({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  if (tool.purpose === 'permission') {
    return (
      <>
        <p>{message.sender.name} wants to use <b className="font-mono text-[0.9em] font-semibold">{tool.name}</b></p>
        <pre tabIndex={0} aria-label="Input" className="mt-2 max-h-48 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{JSON.stringify(tool.input, null, 2)}</pre>
      </>
    )
  }
  return message.text ? <Markdown text={message.text} names={names} me={me.name} /> : <p className="font-mono text-[0.9em]">{tool.name}</p>
}

function Answer({ message, tool }: { message: Message; tool: Tool }) {
  const store = useStore()
  const now = useNow()
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const Controls = CONTROLS[tool.ui as keyof typeof CONTROLS] ?? Form
  const answer = (result: unknown) => {
    setBusy(true)
    setProblem('')
    store.client.runs.submit(message.runId!, { toolCallId: tool.callId, result }).then(
      // The live event closes the card.
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
      <Controls tool={tool} busy={busy} onAnswer={answer} />
      <p role="alert" className="text-small text-bad empty:hidden">{problem}</p>
      {left !== null && left > 0 && <p className="mt-2 text-tiny text-ink-soft">{left < 3_600_000 ? `Expires in ${duration(left)}` : `Expires ${fullTime(tool.expiresAt!)}`}</p>}
    </>
  )
}
