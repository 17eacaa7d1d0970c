import type { ConnectedModel, Models as Found } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { ConnectModel } from './ConnectModel.tsx'

/** The models of this server: connect one, see which agents use it, and choose the default of new agents. */
export function Models() {
  const { client } = useStore()
  const { data, problem, reload } = useQuery('models', () => client.models.list())
  const [refused, setRefused] = useState('')
  const [done, setDone] = useState('')
  if (!data) return <QueryStatus problem={problem} />
  const attempt = (work: Promise<unknown>, text = '') => void work.then(
    () => { setRefused(''); setDone(text); reload() },
    (error: Error) => { setRefused(error.message); setDone('') },
  )
  const use = (name: string) => attempt(client.models.use(name), `${names(data.demo.agents)} now use ${name}.`)
  return (
    <div className="space-y-8">
      <p className="text-ink-soft">Agents think with a model. Connect one from a provider, or one that runs on a machine of yours.</p>
      <p role="alert" className="text-small text-bad empty:hidden">{refused}</p>
      <p role="status" className="text-small text-agent empty:hidden">{done}</p>
      <ul aria-label="Connected models" className="divide-y divide-line text-small empty:hidden">
        {data.models.map((model) => (
          <li key={model.name} className="space-y-2 py-3">
            <Facts model={model} />
            <div className="flex flex-wrap gap-2">
              {data.demo.model === 'demo' && data.demo.agents.length > 0 && <Button aria-label={`Use ${model.name} for ${names(data.demo.agents)}`} onClick={() => use(model.name)}>Use for {names(data.demo.agents)}</Button>}
              {!model.default && <Button aria-label={`Make ${model.name} the default`} onClick={() => attempt(client.models.connect(model.name, { model: model.model, default: true }))}>Make default</Button>}
              <ConfirmButton label={`Remove ${model.name}`} confirm={`Yes, remove ${model.name}`} onConfirm={() => attempt(client.models.remove(model.name))} />
            </div>
          </li>
        ))}
      </ul>
      <Others models={data} />
      <ConnectModel models={data} onSaved={(name) => attempt(Promise.resolve(), `Connected ${name}.`)} />
    </div>
  )
}

function Facts({ model }: { model: ConnectedModel }) {
  return (
    <div>
      <span className="font-medium">{model.name}</span>
      {model.default && <span className="ml-2 rounded-full bg-hover px-2 text-tiny">Default for new agents</span>}
      <span className="block font-mono text-ink-soft">{model.title}</span>
      <Key model={model} />
      <Agents list={model.agents} />
    </div>
  )
}

function Others({ models }: { models: Found }) {
  if (models.others.length === 0) return null
  return (
    <section aria-label="Other models of agents" className="text-small">
      <h3 className="text-large">Other models of agents</h3>
      <ul className="divide-y divide-line">
        {models.others.map((model) => (
          <li key={JSON.stringify(model.model)} className="py-2">
            <span className="block font-mono">{model.title}</span>
            <Key model={model} />
            <Agents list={model.agents} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Key({ model }: { model: Found['others'][number] }) {
  if (model.install) return <span className="block text-bad">A package is missing. Run <code>{model.install}</code> where Majlis runs, then restart it.</span>
  if (!model.key.name) return null
  return model.key.set ? <span className="block text-ink-soft">Key: {model.key.name}</span> : <span className="block text-bad">The key {model.key.name} is not set.</span>
}

function Agents({ list }: { list: ConnectedModel['agents'] }) {
  if (list.length === 0) return <span className="block text-ink-soft">No agent uses it yet</span>
  return <span className="block text-ink-soft">Used by {list.map((agent, n) => <span key={agent.id}>{n > 0 && ', '}<Link href={`/admin/agents/${agent.id}`} className="text-link"><bdi>{agent.name}</bdi></Link></span>)}</span>
}

function names(agents: readonly { name: string }[]): string {
  const shown = agents.slice(0, 2).map((agent) => agent.name)
  return agents.length > 2 ? `${shown.join(', ')} and ${agents.length - 2} more` : shown.join(' and ')
}
