import type { Agent } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { msg, plural, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { SchemaField, type FieldSchema } from './SchemaField.tsx'
import type { Schema } from './schemaError.ts'

type Config = Record<string, unknown>
type Item = Record<string, unknown>

const KINDS = {
  http: { label: msg('HTTP request'), def: 'HttpTool', empty: { type: 'http', name: '', description: '', inputSchema: { type: 'object', properties: {} }, execution: { method: 'GET', url: 'https://' } } },
  python: { label: msg('Python function'), def: 'PythonTool', empty: { type: 'python', name: '', description: '', execution: { function: '' } } },
  space: { label: msg('Question for people'), def: 'SpaceTool', empty: { type: 'space', name: '', description: '', ui: 'approval' } },
  static: { label: msg('Fixed answer'), def: 'StaticTool', empty: { type: 'static', name: '', description: '', inputSchema: { type: 'object', properties: {} }, execution: { output: '' } } },
} as const
type Kind = keyof typeof KINDS

/** Shown first, in this order; the others follow as the schema has them. */
const FIRST = ['name', 'description', 'ui', 'url', 'command']

interface Props {
  agent: Agent
  config: Config
  root: Schema
  onChange: (key: 'tools' | 'mcp', items: Item[]) => void
}

/** The agent's own tools and its MCP servers, each as a form that the config's schema makes. */
export function Tools({ agent, config, root, onChange }: Props) {
  const [tools, servers] = [itemsOf(config, 'tools'), itemsOf(config, 'mcp')]
  const [kind, setKind] = useState<Kind>('http')
  const change = (key: 'tools' | 'mcp', items: Item[], n: number, item: Item | null) => onChange(key, item ? items.with(n, item) : items.toSpliced(n, 1))
  return (
    <div className="space-y-5">
      <section aria-label={t('Tools')} className="space-y-2">
        <h4 className="font-sans text-small font-semibold">{t('Tools')}</h4>
        <p className="text-small text-ink-soft">{t('In addition to the built-in tools, such as send_message and read_file.')}</p>
        {tools.map((tool, n) => (
          <Entry key={n} item={tool} title={t(KINDS[tool['type'] as Kind]?.label ?? msg('Tool'))} schema={schemaOf(root, KINDS[tool['type'] as Kind]?.def ?? '')} root={root} onChange={(item) => change('tools', tools, n, item)} />
        ))}
        <div className="flex flex-wrap items-center gap-2">
          <select aria-label={t('Kind of tool')} value={kind} className="field w-auto py-1.5 text-small" onChange={(event) => setKind(event.target.value as Kind)}>
            {Object.entries(KINDS).map(([value, { label }]) => <option key={value} value={value}>{t(label)}</option>)}
          </select>
          <Button onClick={() => onChange('tools', [...tools, { ...KINDS[kind].empty }])}>{t('Add tool')}</Button>
        </div>
      </section>
      <section aria-label={t('MCP servers')} className="space-y-2">
        <h4 className="font-sans text-small font-semibold">{t('MCP servers')}</h4>
        <p className="text-small text-ink-soft">{t('The name of each tool starts with the name of its server.')}</p>
        {servers.map((server, n) => (
          <Entry key={n} item={server} title={t('MCP server')} schema={schemaOf(root, 'McpServer')} root={root} onChange={(item) => change('mcp', servers, n, item)}>
            <TestServer agent={agent} config={config} server={server} />
          </Entry>
        ))}
        <Button onClick={() => onChange('mcp', [...servers, { name: '', url: 'https://' }])}>{t('Add MCP server')}</Button>
      </section>
    </div>
  )
}

function Entry({ item, title, schema, root, onChange, children }: { item: Item; title: string; schema: FieldSchema; root: Schema; onChange: (item: Item | null) => void; children?: React.ReactNode }) {
  const name = String(item['name'] ?? '')
  const [open, setOpen] = useState(name === '')
  const keys = Object.keys(schema.properties ?? {}).filter((key) => key !== 'type').toSorted((a, b) => rank(a) - rank(b))
  const set = (key: string, value: unknown) => onChange(value === undefined ? without(item, key) : { ...item, [key]: value })
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)} className="rounded-lg border border-line bg-paper-high">
      <summary className="flex cursor-pointer items-center px-4 py-2.5 text-small">
        <b className="font-semibold">{name || t('New')}</b><span className="ms-2 text-ink-soft">{title}</span>
      </summary>
      <div className="space-y-4 border-t border-line p-4">
        {keys.map((key) => <SchemaField key={key} name={key} schema={schema.properties![key]!} root={root} value={item[key]} onChange={(value) => set(key, value)} json />)}
        <div className="flex items-start justify-between gap-3">
          <div className="min-w-0 flex-1">{children}</div>
          <Button look="bad" onClick={() => onChange(null)}>{name ? t('Remove {name}', { name }) : t('Remove tool')}</Button>
        </div>
      </div>
    </details>
  )
}

/** Connects to the server as a run would, and lists its tools. */
function TestServer({ agent, config, server }: { agent: Agent; config: Config; server: Item }) {
  const { client } = useStore()
  const [result, setResult] = useState<{ bad: boolean; text: string } | null>(null)
  const [busy, setBusy] = useState(false)
  const test = async () => {
    setBusy(true)
    try {
      const { tools, notes } = await client.agents.tryOut(agent.id, { text: t('Test'), spaceId: null, config: { ...config, model: 'demo', tools: [], mcp: [server] }, ask: false })
      const names = tools.map((tool) => (tool['function'] as { name: string }).name).filter((name) => name.startsWith(`${String(server['name'])}_`))
      setResult(names.length > 0 ? { bad: false, text: plural(names.length, 'Connected: {n} tool ({names})', 'Connected: {n} tools ({names})', { names: names.join(', ') }) } : { bad: true, text: notes[0] ?? t('The server offers no tools. If the server is a program, only a run starts it.') })
    } catch (error) {
      setResult({ bad: true, text: (error as Error).message })
    }
    setBusy(false)
  }
  return (
    <div className="space-y-2">
      <Button disabled={busy} onClick={() => void test()}>{busy ? t('Testing…') : t('Test')}</Button>
      <p role="status" className={`text-small break-words empty:hidden ${result?.bad ? 'text-bad' : 'text-ink-soft'}`}>{result?.text}</p>
    </div>
  )
}

const itemsOf = (config: Config, key: string): Item[] => (Array.isArray(config[key]) ? (config[key] as Item[]) : [])

const schemaOf = (root: Schema, def: string): FieldSchema => (root.$defs?.[def] ?? {}) as FieldSchema

const rank = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length)

function without(item: Item, key: string): Item {
  const { [key]: _, ...rest } = item
  return rest
}
