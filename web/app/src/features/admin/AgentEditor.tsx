import { MajlisError, type Agent, type PolicyRule } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { go } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { schemaError, type Schema } from './schemaError.ts'
import { TryIt } from './TryIt.tsx'

type Config = Record<string, unknown>

/** An agent's config: a form for what is changed most, the whole as JSON beside it. The server checks both alike. */
export function AgentEditor({ id }: { id: string }) {
  const { client } = useStore()
  const { data: agent, problem } = useQuery(id, () => client.agents.get(id))
  if (problem) return <p role="alert" className="text-bad">{problem}</p>
  if (!agent) return <p className="text-ink-soft">Looking…</p>
  return <Editor agent={agent} />
}

function Editor({ agent: given }: { agent: Agent }) {
  const { client } = useStore()
  const [agent, setAgent] = useState(given)
  const [text, setText] = useState(() => JSON.stringify(agent.config, null, 2))
  const [name, setName] = useState(agent.name)
  const [said, setSaid] = useState<{ bad: boolean; words: string } | null>(null)
  const [sure, setSure] = useState(false)
  const schema = useQuery('config-schema', () => client.agents.configSchema()).data as Schema | null
  const config = parsed(text)
  const advice = !config ? 'This is not JSON yet.' : schema ? schemaError(schema, config) : null
  const edit = (changed: string) => {
    setText(changed)
    setSaid(null)
  }
  const set = (key: string, value: unknown) => config && edit(JSON.stringify({ ...config, [key]: value }, null, 2))
  const save = async () => {
    if (!config) return setSaid({ bad: true, words: 'This is not JSON.' })
    try {
      const changed = await client.agents.change(agent.id, { name: name.trim(), config: withoutMissing(agent.config, config) })
      setAgent(changed)
      setText(JSON.stringify(changed.config, null, 2))
      setSaid({ bad: false, words: `Saved as version ${changed.version}. It holds from the next run on.` })
    } catch (error) {
      const path = error instanceof MajlisError ? error.details['path'] : ''
      setSaid({ bad: true, words: `${path ? `${String(path)}: ` : ''}${(error as Error).message}` })
    }
  }
  const remove = () => client.agents.delete(agent.id).then(() => go('/admin/agents'), (error: Error) => setSaid({ bad: true, words: error.message }))
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
          <input disabled={!config || typeof config['model'] === 'object'} value={modelText(config)} placeholder="demo, or provider:name" className="field w-64" onChange={(event) => set('model', event.target.value)} />
        </Field>
        <Field label="Mind">
          <select disabled={!config} value={String(config?.['mind'] ?? 'timeline')} className="field w-auto" onChange={(event) => set('mind', event.target.value)}>
            {['timeline', 'consciousness', 'roles'].map((mind) => <option key={mind}>{mind}</option>)}
          </select>
        </Field>
      </div>
      <PolicyEditor rules={rulesOf(config)} disabled={!config} onChange={(rules) => set('policy', rules)} />
      <Field label="All of it, as JSON">
        <textarea rows={16} spellCheck={false} value={text} aria-invalid={advice !== null} className="field font-mono text-[0.8125rem] aria-invalid:border-bad" onChange={(event) => edit(event.target.value)} />
      </Field>
      <p role="status" className={`min-h-5 text-small ${advice || said?.bad ? 'text-bad' : 'text-ink-soft'}`}>{advice ?? said?.words}</p>
      <div className="flex justify-between">
        <Button type="submit" look="primary" disabled={!config}>Save</Button>
        {sure ? <Button look="bad" onClick={() => void remove()}>Really delete {agent.name}</Button> : <Button look="bad" onClick={() => setSure(true)}>Delete</Button>}
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

/** A change is a merge: what was taken out of the text has to be named to go. */
function withoutMissing(before: Config, after: Config): Config {
  const gone = Object.keys(before).filter((key) => !(key in after))
  return { ...after, ...Object.fromEntries(gone.map((key) => [key, null])) }
}

function parsed(text: string): Config | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Config) : null
  } catch {
    return null
  }
}

/** One that is more than a name is changed in the JSON. */
const modelText = (config: Config | null): string => {
  const model = config?.['model']
  if (model === null || typeof model !== 'object') return String(model ?? '')
  const { provider, name } = model as { provider?: unknown; name?: unknown }
  return `${String(provider)}:${String(name)}, and more below`
}
