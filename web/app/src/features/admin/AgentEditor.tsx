import { MajlisError, type Agent, type PolicyRule } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect, useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { PauseButton } from '../../ui/PauseButton.tsx'
import { PolicyEditor } from '../../ui/PolicyEditor.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { UnsavedGuard } from '../../ui/UnsavedGuard.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { PictureField } from '../profile/PictureField.tsx'
import { Memories } from './Memories.tsx'
import { ModelField } from './ModelField.tsx'
import { schemaError, type Schema } from './schemaError.ts'
import { SchemaField } from './SchemaField.tsx'
import { Tools } from './Tools.tsx'
import { TryIt } from './TryIt.tsx'
import { Versions } from './Versions.tsx'

type Config = Record<string, unknown>

const TABS = { persona: msg('Persona'), model: msg('Model'), tools: msg('Tools'), limits: msg('Limits'), memory: msg('Memory'), behavior: msg('Behavior'), versions: msg('Versions'), json: 'JSON' }
type Tab = keyof typeof TABS

/** Settings that have their own place. All others, also future ones, are under Behavior. */
const PLACES: Record<string, Tab> = { instructions: 'persona', model: 'model', tools: 'tools', mcp: 'tools', policy: 'tools', limits: 'limits', consciousness: 'limits' }
/** Settings without a schema field of their own on their tab. */
const SPECIAL = new Set(['instructions', 'model', 'tools', 'mcp', 'policy'])

const keysOf = (tab: Tab, schema: Schema): string[] => Object.keys(schema.properties ?? {}).filter((key) => !SPECIAL.has(key) && (PLACES[key] ?? 'behavior') === tab)

const INVALID_JSON = msg('Invalid JSON. Check brackets, quotes and commas.')

/** Edits an agent's config in tabs. The server's JSON Schema makes the forms; the last tab is the full JSON. */
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
  const [tab, setTab] = useState<Tab>('persona')
  const [deleted, setDeleted] = useState(false)
  useEffect(() => {
    if (deleted) go('/admin/agents')
  }, [deleted])
  const schema = useQuery('config-schema', () => client.agents.configSchema()).data as Schema | null
  const config = parsed(text)
  const advice = !config ? t(INVALID_JSON) : schema ? schemaError(schema, config) : null
  const edit = (changed: string) => {
    setText(changed)
    setResult(null)
  }
  const set = (key: string, value: unknown) => config && edit(JSON.stringify({ ...config, [key]: value }, null, 2))
  const save = async () => {
    if (!config) return setResult({ bad: true, text: t(INVALID_JSON) })
    try {
      const changed = await client.agents.change(agent.id, { name: name.trim(), config: withRemoved(agent.config, config) })
      setAgent(changed)
      setText(JSON.stringify(changed.config, null, 2))
      setResult({ bad: false, text: t('Saved as version {version}. Takes effect with the next run.', { version: changed.version }) })
    } catch (error) {
      const path = error instanceof MajlisError ? error.details['path'] : ''
      setResult({ bad: true, text: `${path ? `${String(path)}: ` : ''}${(error as Error).message}` })
    }
  }
  const restore = (earlier: Config, version: number) => {
    edit(JSON.stringify(earlier, null, 2))
    setResult({ bad: false, text: t('Version {version} is in the editor. Save to use it.', { version }) })
  }
  const unsaved = name.trim() !== agent.name || text !== JSON.stringify(agent.config, null, 2)
  const remove = () => client.agents.delete(agent.id).then(() => setDeleted(true), (error: Error) => setResult({ bad: true, text: error.message }))
  return (
    <>
    <UnsavedGuard unsaved={unsaved && !deleted} />
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div className="flex items-center gap-3">
        <Avatar id={agent.id} name={agent.name} type="agent" picture={agent.picture} />
        <h3 className="min-w-0 flex-1 truncate text-title"><bdi>{agent.name}</bdi></h3>
        <PauseButton paused={agent.paused} label={t('Pause {name}', { name: agent.name })} resumeLabel={t('Resume {name}', { name: agent.name })} onPause={() => client.agents.pause(agent.id)} onResume={() => client.agents.resume(agent.id)} />
      </div>
      <div role="tablist" aria-label={t('Settings')} className="flex gap-1 overflow-x-auto border-b border-line">
        {Object.entries(TABS).map(([key, label]) => (
          <button key={key} type="button" role="tab" id={`tab-${key}`} aria-selected={tab === key} aria-controls="agent-tab" className="-mb-px shrink-0 border-b-2 border-transparent px-3 py-2 text-small text-ink-soft hover:text-ink aria-selected:border-ink aria-selected:font-semibold aria-selected:text-ink" onClick={() => setTab(key as Tab)}>{t(label)}</button>
        ))}
      </div>
      <div role="tabpanel" id="agent-tab" aria-labelledby={`tab-${tab}`} className="space-y-5">
        {tab === 'persona' && (
          <>
            <PictureField entity={agent} onChange={(picture) => setAgent({ ...agent, picture })} />
            <Field label={t('Name')}><input required maxLength={64} value={name} className="field max-w-xs" onChange={(event) => setName(event.target.value)} /></Field>
            <Field label={t('Instructions')}>
              <textarea rows={10} disabled={!config} value={String(config?.['instructions'] ?? '')} className="field" onChange={(event) => set('instructions', event.target.value)} />
            </Field>
          </>
        )}
        {tab === 'json' && (
          <Field label={t('Full config (JSON)')}>
            <textarea rows={20} spellCheck={false} value={text} aria-invalid={advice !== null} className="field font-mono text-[0.8125rem] aria-invalid:border-bad" onChange={(event) => edit(event.target.value)} />
          </Field>
        )}
        {tab === 'memory' && <Memories agentId={agent.id} />}
        {tab === 'versions' && <Versions agent={agent} onRestore={restore} />}
        {tab !== 'persona' && tab !== 'json' && !config && <p className="text-small text-ink-soft">{t('Fix the JSON first.')}</p>}
        {tab === 'model' && config?.['mind'] === 'outside' && <p className="text-small text-ink-soft">{t('This agent runs in your own program, which chooses the model and takes events with a token of this agent.')}</p>}
        {tab === 'model' && config && config['mind'] !== 'outside' && <ModelField value={config['model']} onChange={(value) => set('model', value)} />}
        {tab === 'tools' && config && (
          <>
            <PolicyEditor rules={rulesOf(config)} disabled={false} onChange={(rules) => set('policy', rules)} />
            {schema && <Tools agent={agent} config={config} root={schema} onChange={set} />}
          </>
        )}
        {config && schema && keysOf(tab, schema).map((key) => <SchemaField key={key} name={key} schema={schema.properties![key]!} root={schema} value={config[key]} onChange={(value) => set(key, value)} />)}
      </div>
      <p role="status" className={`min-h-5 text-small ${advice || result?.bad ? 'text-bad' : 'text-ink-soft'}`}>{advice ?? result?.text}</p>
      <div className="flex justify-between">
        <span className="flex items-center gap-3">
          <Button type="submit" look="primary" disabled={!config}>{t('Save')}</Button>
          {unsaved && <span className="text-small text-ink-soft">{t('Unsaved changes')}</span>}
        </span>
        <ConfirmButton label={t('Delete agent')} confirm={t('Yes, delete {name}', { name: agent.name })} onConfirm={() => void remove()} />
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
