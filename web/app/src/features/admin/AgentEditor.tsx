import { MajlisError, type Agent, type PolicyRule } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { go } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { schemaError, type Schema } from './schemaError.ts'
import { TryIt } from './TryIt.tsx'

type Config = Record<string, unknown>

const INVALID_JSON = 'Invalid JSON. Check brackets, quotes and commas.'

/** Edits an agent's config: a form for common settings, and the full JSON. */
export function AgentEditor({ id }: { id: string }) {
  const { client } = useStore()
  const { data: agent, problem } = useQuery(id, () => client.agents.get(id))
  if (!agent) return <QueryStatus problem={problem} />
  return <Editor agent={agent} />
}

function Editor({ agent: given }: { agent: Agent }) {
  const { client } = useStore()
  const [agent, setAgent] = useState(given)
  const [text, setText] = useState(() => JSON.stringify(agent.config, null, 2))
  const [name, setName] = useState(agent.name)
  const [result, setResult] = useState<{ bad: boolean; text: string } | null>(null)
  const schema = useQuery('config-schema', () => client.agents.configSchema()).data as Schema | null
  const config = parsed(text)
  const advice = !config ? INVALID_JSON : schema ? schemaError(schema, config) : null
  const edit = (changed: string) => {
    setText(changed)
    setResult(null)
  }
  const set = (key: string, value: unknown) => config && edit(JSON.stringify({ ...config, [key]: value }, null, 2))
  const save = async () => {
    if (!config) return setResult({ bad: true, text: INVALID_JSON })
    try {
      const changed = await client.agents.change(agent.id, { name: name.trim(), config: withRemoved(agent.config, config) })
      setAgent(changed)
      setText(JSON.stringify(changed.config, null, 2))
      setResult({ bad: false, text: `Saved as version ${changed.version}. Takes effect with the next run.` })
    } catch (error) {
      const path = error instanceof MajlisError ? error.details['path'] : ''
      setResult({ bad: true, text: `${path ? `${String(path)}: ` : ''}${(error as Error).message}` })
    }
  }
  const remove = () => client.agents.delete(agent.id).then(() => go('/admin/agents'), (error: Error) => setResult({ bad: true, text: error.message }))
  return (
    <>
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <h3 className="flex items-center gap-3 text-title"><Avatar id={agent.id} name={agent.name} type="agent" /><bdi className="truncate">{agent.name}</bdi></h3>
      <Field label="Name"><input required maxLength={64} value={name} className="field max-w-xs" onChange={(event) => setName(event.target.value)} /></Field>
      <Field label="Instructions">
        <textarea rows={6} disabled={!config} value={String(config?.['instructions'] ?? '')} className="field" onChange={(event) => set('instructions', event.target.value)} />
      </Field>
      <div className="flex flex-wrap gap-4">
        <Field label="Model">
          <input disabled={!config || typeof config['model'] === 'object'} value={modelText(config)} placeholder="provider:model, or demo" className="field w-64" onChange={(event) => set('model', event.target.value)} />
        </Field>
        <Field label="Mind">
          <select disabled={!config} value={String(config?.['mind'] ?? 'timeline')} className="field w-auto" onChange={(event) => set('mind', event.target.value)}>
            {['timeline', 'consciousness', 'roles'].map((mind) => <option key={mind}>{mind}</option>)}
          </select>
        </Field>
      </div>
      <PolicyEditor rules={rulesOf(config)} disabled={!config} onChange={(rules) => set('policy', rules)} />
      <Field label="Full config (JSON)">
        <textarea rows={16} spellCheck={false} value={text} aria-invalid={advice !== null} className="field font-mono text-[0.8125rem] aria-invalid:border-bad" onChange={(event) => edit(event.target.value)} />
      </Field>
      <p role="status" className={`min-h-5 text-small ${advice || result?.bad ? 'text-bad' : 'text-ink-soft'}`}>{advice ?? result?.text}</p>
      <div className="flex justify-between">
        <Button type="submit" look="primary" disabled={!config}>Save</Button>
        <ConfirmButton label="Delete agent" confirm={`Yes, delete ${agent.name}`} onConfirm={() => void remove()} />
      </div>
    </form>
    <TryIt agent={agent} config={config} />
    </>
  )
}

const rulesOf = (config: Config | null): PolicyRule[] => (Array.isArray(config?.['policy']) ? (config['policy'] as PolicyRule[]) : [])

function Field({ label, children }: { label: string; children: React.ReactNode }) {
  return <label className="block"><span className="mb-1 block text-small text-ink-soft">{label}</span>{children}</label>
}

/** The server merges changes, so removed keys are sent as null. */
function withRemoved(before: Config, after: Config): Config {
  const removed = Object.keys(before).filter((key) => !(key in after))
  return { ...after, ...Object.fromEntries(removed.map((key) => [key, null])) }
}

function parsed(text: string): Config | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Config) : null
  } catch {
    return null
  }
}

/** A model with further settings can only be edited as JSON. */
const modelText = (config: Config | null): string => {
  const model = config?.['model']
  if (model === null || typeof model !== 'object') return String(model ?? '')
  const { provider, name } = model as { provider?: unknown; name?: unknown }
  return `${String(provider)}:${String(name)} (edit below)`
}
