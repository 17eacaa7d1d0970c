import { MajlisError, type Message, type Tool } from '@majlis/client'
import { useMe, useSpace, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { rich, t } from '../../language/words.ts'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { duration, fullTime, timeOf, useNow } from '../../ui/time.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { plainText } from '../markdown/plainText.ts'
import { MessageFrame } from '../timeline/MessageFrame.tsx'
import { MessageTime } from '../timeline/MessageTime.tsx'
import { AskAnswers } from './AskAnswers.tsx'
import { CardResult } from './CardResult.tsx'
import { Approval } from './Approval.tsx'
import { Choice } from './Choice.tsx'

export const FormCard = lazyPart(() => import('./Form.tsx'))
const CONTROLS = { approval: Approval, choice: Choice, form: FormCard }

export interface ControlProps {
  tool: Tool
  busy: boolean
  /** The server's answer to a result that did not fit. */
  error: MajlisError | null
  onAnswer: (result: unknown) => void
  /** Only for a card that may be declined. */
  onDecline?: () => void
}

/** A question of an agent or a program to people. The first answer closes it for everyone, unless an ask needs more. */
export function Card({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  const role = useSpace(message.spaceId)?.members.find((member) => member.id === me.id)?.role
  const open = tool.status === 'running'
  return (
    <MessageFrame sender={message.sender} first aside={<MessageTime at={message.createdAt} />}>
      <section aria-label={t('{name} asks: {question}, {time}', { name: message.sender.name, question: plainText(message.text).slice(0, 80) || tool.name, time: timeOf(message.createdAt) })} className={`mt-1 max-w-xl rounded-lg border p-4 ${open ? 'border-decide bg-paper-high shadow-low' : 'border-line bg-paper-low'}`}>
        <Question message={message} tool={tool} names={names} />
        {tool.ask && (open || tool.ask.need > 1) && <AskAnswers tool={tool} />}
        {!open && !(tool.ask && tool.ask.need > 1 && tool.status === 'complete') && <CardResult tool={tool} />}
        {open && role === 'viewer' && <p className="mt-2 text-small text-ink-soft">{t('You’re a viewer in this space, so you can’t answer.')}</p>}
        {open && role !== 'viewer' && (mayAnswer(tool, me.id) ? <Answer message={message} tool={tool} /> : <p className="mt-2 text-small text-ink-soft">{hasAnswered(tool, me.id) ? t('You answered.') : t('This question is for other members.')}</p>)}
      </section>
    </MessageFrame>
  )
}

const hasAnswered = (tool: Tool, me: string) => tool.ask?.answers.some((each) => each.by.id === me) ?? false

const mayAnswer = ({ ask, ...tool }: Tool, me: string) =>
  !ask || (!hasAnswered({ ...tool, ask }, me) && (ask.fromIds.length === 0 || ask.fromIds.includes(me)))

function Question({ message, tool, names }: { message: Message; tool: Tool; names: readonly string[] }) {
  const me = useMe()!
  if (tool.purpose === 'permission') {
    return (
      <>
        <p>{rich('{name} wants to use {tool}', { name: <bdi>{message.sender.name}</bdi>, tool: <b dir="ltr" className="font-mono text-[0.9em] font-semibold">{tool.name}</b> })}</p>
        <pre tabIndex={0} aria-label={t('Input')} className="mt-2 max-h-48 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{JSON.stringify(tool.input, null, 2)}</pre>
      </>
    )
  }
  if (tool.mayDecline) return <ServerQuestion tool={tool} />
  return message.text ? <Markdown text={message.text} names={names} me={me.name} /> : <p className="font-mono text-[0.9em]">{tool.name}</p>
}

/** The words of an MCP server are shown as plain text: a link could claim to lead elsewhere. */
function ServerQuestion({ tool }: { tool: Tool }) {
  const { server, question, url } = tool.input as { server?: string; question?: string; url?: string }
  return (
    <>
      <p className="text-small text-ink-soft">{t('{name} (MCP server)', { name: server ?? '' })}</p>
      <p className="whitespace-pre-wrap break-words">{question}</p>
      {url && <p className="mt-2"><a href={url} target="_blank" rel="noopener noreferrer" className="break-all text-link underline">{url}</a></p>}
    </>
  )
}

function Answer({ message, tool }: { message: Message; tool: Tool }) {
  const store = useStore()
  const now = useNow()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const Controls = CONTROLS[tool.ui as keyof typeof CONTROLS] ?? FormCard
  const answer = (result: unknown, decline = false) => {
    setBusy(true)
    setError(null)
    const sent = tool.ask
      ? store.client.asks.answer(tool.ask.id, { result })
      : store.client.runs.submit(message.runId!, { toolCallId: tool.callId, result, decline })
    sent.then(
      // The live event closes the card, or shows the answer on it.
      () => {},
      (error: Error) => {
        setBusy(false)
        setError(error)
      },
    )
  }
  const refused = error instanceof MajlisError ? error : null
  // A form shows it at the field.
  const atField = Controls === FormCard && refused?.code === 'invalid_result' && Boolean(refused.details['path'] ?? refused.details['errors'])
  const left = tool.expiresAt ? Date.parse(tool.expiresAt) - now : null
  return (
    <>
      <Controls tool={tool} busy={busy} error={refused} onAnswer={(result) => answer(result)} {...(tool.mayDecline ? { onDecline: () => answer(null, true) } : {})} />
      <p role="alert" className="mt-2 text-small text-bad empty:hidden">{atField ? '' : error?.message}</p>
      {left !== null && left > 0 && <p className="mt-2 text-tiny text-ink-soft">{left < 3_600_000 ? t('Expires in {time}', { time: duration(left) }) : t('Expires {time}', { time: fullTime(tool.expiresAt!) })}</p>}
    </>
  )
}
