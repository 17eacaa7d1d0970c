import type { Agent, Tried } from '@majlis/client'
import { useSpaces, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { plural, rich, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { dot, money } from '../../ui/format.ts'
import { preciseDuration } from '../../ui/time.ts'
import { BlockList } from '../inspector/BlockList.tsx'
import { blocksOf } from '../inspector/promptBlocks.ts'
import { Markdown } from '../markdown/Markdown.tsx'

/** Shows the prompt for a test message with the config in the editor, saved or not, and what the model answers. */
export function TryIt({ agent, config }: { agent: Agent; config: Record<string, unknown> | null }) {
  const { client } = useStore()
  const shared = useSpaces().filter((space) => space.members.some((member) => member.id === agent.id))
  const [text, setText] = useState(t('Hello! What can you do?'))
  const [spaceId, setSpaceId] = useState(shared[0]?.facts.id ?? '')
  const [tried, setTried] = useState<Tried | null>(null)
  const [problem, setProblem] = useState('')
  const [asking, setAsking] = useState(false)
  const attempt = async (ask: boolean) => {
    setAsking(ask)
    setTried(null)
    setProblem('')
    try {
      setTried(await client.agents.tryOut(agent.id, { text, spaceId: spaceId || null, config, ask }))
    } catch (error) {
      setProblem((error as Error).message)
    }
    setAsking(false)
  }
  return (
    <section aria-labelledby="try-it" className="mt-8 space-y-3 border-t border-line pt-5">
      <h3 id="try-it" className="text-large">{t('Try it')}</h3>
      <p className="text-small text-ink-soft">{t('Ask {name} with the config above, saved or not. The model answers once. Its tool calls are shown, not made; nothing is stored, sent, or counted in Usage.', { name: agent.name })}</p>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          void attempt(true)
        }}
      >
        <label className="block"><span className="mb-1 block text-small text-ink-soft">{t('Message')}</span><input name="text" required value={text} className="field text-small" onChange={(event) => setText(event.target.value)} /></label>
        <div className="flex flex-wrap items-end gap-3">
          <label className="block">
            <span className="mb-1 block text-small text-ink-soft">{t('Space')}</span>
            <select name="space" value={spaceId} className="field w-auto max-w-xs text-small" onChange={(event) => setSpaceId(event.target.value)}>
              {shared.map(({ facts }) => <option key={facts.id} value={facts.id}>{facts.name}</option>)}
              <option value="">{t('None (service event)')}</option>
            </select>
          </label>
          <Button type="submit" look="primary" disabled={!config || asking}>{asking ? t('Asking…') : t('Ask the model')}</Button>
          <Button disabled={!config || asking} onClick={() => void attempt(false)}>{t('Show prompt')}</Button>
        </div>
      </form>
      <p role="alert" className="text-small text-bad empty:hidden">{problem || tried?.problem?.message}</p>
      {tried?.answer && <Answer answer={tried.answer} />}
      {tried && (
        <details open={!tried.answer} className="space-y-2">
          <summary className="flex cursor-pointer items-center text-small text-ink-soft"><span role="status">{t('In the prompt: about {tokens} and {tools}', { tokens: plural(tried.tokens, '{n} token', '{n} tokens'), tools: plural(tried.tools.length, '{n} tool', '{n} tools') })}</span></summary>
          {tried.notes.map((note) => <p key={note} className="rounded-md bg-paper-low px-3 py-2 text-small">{note}</p>)}
          <BlockList blocks={blocksOf(tried, tried.tokens, 0)} before={null} />
        </details>
      )}
    </section>
  )
}

/** Shows the text that the agent would send, then its other calls. */
function Answer({ answer }: { answer: NonNullable<Tried['answer']> }) {
  const said = answer.calls.filter((call) => call.name === 'send_message')
  const others = answer.calls.filter((call) => call.name !== 'send_message')
  const facts = [plural(answer.inputTokens, '{n} input token', '{n} input tokens'), plural(answer.outputTokens, '{n} output token', '{n} output tokens'), ...(answer.cost === null ? [] : [money(answer.cost)]), preciseDuration(answer.millis)]
  return (
    <section aria-label={t('Answer')} className="space-y-2 rounded-lg border border-line bg-paper-high p-4">
      {said.map((call, n) => <Markdown key={n} text={textOf(call.input)} names={[]} me="" />)}
      {said.length === 0 && answer.text && <Markdown text={answer.text} names={[]} me="" />}
      {answer.calls.length === 0 && !answer.text && <p className="text-ink-soft">{t('The model chose not to answer.')}</p>}
      {others.map((call, n) => (
        <details key={n} className="text-small">
          <summary className="flex cursor-pointer items-center"><span>{rich('Would call {tool}', { tool: <code dir="ltr" className="font-mono text-[0.9em]">{call.name}</code> })}</span></summary>
          <pre tabIndex={0} className="mt-1 max-h-48 overflow-auto rounded-md bg-paper-low p-2 font-mono text-tiny whitespace-pre-wrap">{JSON.stringify(call.input, null, 2)}</pre>
        </details>
      ))}
      <p className="text-small text-ink-soft">{facts.join(dot())}</p>
    </section>
  )
}

function textOf(input: unknown): string {
  const text = (input as { text?: unknown } | null)?.text
  return typeof text === 'string' ? text : JSON.stringify(input)
}
