import type { Agent, Tried } from '@majlis/client'
import { useSpaces, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { Button } from '../../ui/Button.tsx'
import { plural } from '../../ui/format.ts'
import { BlockList } from '../inspector/BlockList.tsx'
import { blocksOf } from '../inspector/promptBlocks.ts'

/** Shows the prompt for a test message with the config in the editor, saved or not. Calls no model. */
export function TryIt({ agent, config }: { agent: Agent; config: Record<string, unknown> | null }) {
  const { client } = useStore()
  const shared = useSpaces().filter((space) => space.members.some((member) => member.id === agent.id))
  const [tried, setTried] = useState<Tried | null>(null)
  const [problem, setProblem] = useState('')
  const attempt = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      setTried(await client.agents.tryOut(agent.id, { text: String(form.get('text')), spaceId: String(form.get('space')) || null, config }))
      setProblem('')
    } catch (error) {
      setTried(null)
      setProblem((error as Error).message)
    }
  }
  return (
    <section aria-labelledby="try-it" className="mt-8 space-y-3 border-t border-line pt-5">
      <h3 id="try-it" className="text-large">Try it</h3>
      <p className="text-small text-ink-soft">See the prompt that {agent.name} would get for a message, with the config above, saved or not. No model is called, and nothing is stored or sent.</p>
      <form className="space-y-3" onSubmit={(event) => void attempt(event)}>
        <label className="block"><span className="mb-1 block text-small text-ink-soft">Message</span><input name="text" required defaultValue="Hello! What can you do?" className="field text-small" /></label>
        <div className="flex flex-wrap items-end gap-3">
          <label className="block">
            <span className="mb-1 block text-small text-ink-soft">Space</span>
            <select name="space" className="field w-auto max-w-xs text-small">
              {shared.map(({ facts }) => <option key={facts.id} value={facts.id}>{facts.name}</option>)}
              <option value="">None (service event)</option>
            </select>
          </label>
          <Button type="submit" disabled={!config}>Show prompt</Button>
        </div>
      </form>
      <p role="alert" className="text-small text-bad empty:hidden">{problem}</p>
      {tried && (
        <div className="space-y-2">
          <p role="status" className="text-small text-ink-soft">About {plural(tried.tokens, 'token')}, {plural(tried.tools.length, 'tool')}</p>
          {tried.notes.map((note) => <p key={note} className="rounded-md bg-paper-low px-3 py-2 text-small">{note}</p>)}
          <BlockList blocks={blocksOf(tried, tried.tokens, 0)} before={null} />
        </div>
      )}
    </section>
  )
}
