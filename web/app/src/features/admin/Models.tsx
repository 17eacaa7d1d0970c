import type { ConnectedModel, Models as Found } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { listed, rich, t } from '../../language/words.ts'
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
  const use = (name: string) => attempt(client.models.use(name), t('{agents} now use {model}.', { agents: names(data.demo.agents), model: name }))
  return (
    <div className="space-y-8">
      <p className="text-ink-soft">{t('Agents need a model to think. Connect one from a provider or on your own machine.')}</p>
      <p role="alert" className="text-small text-bad empty:hidden">{refused}</p>
      <p role="status" className="text-small text-agent empty:hidden">{done}</p>
      <ul aria-label={t('Connected models')} className="divide-y divide-line text-small empty:hidden">
        {data.models.map((model) => (
          <li key={model.name} className="space-y-2 py-3">
            <Facts model={model} />
            <div className="flex flex-wrap gap-2">
              {data.demo.model === 'demo' && data.demo.agents.length > 0 && <Button aria-label={t('Use {model} for {agents}', { model: model.name, agents: names(data.demo.agents) })} onClick={() => use(model.name)}>{t('Use for {agents}', { agents: names(data.demo.agents) })}</Button>}
              {!model.default && <Button aria-label={t('Make {name} the default', { name: model.name })} onClick={() => attempt(client.models.connect(model.name, { model: model.model, default: true }))}>{t('Make default')}</Button>}
              <ConfirmButton label={t('Remove {name}', { name: model.name })} confirm={t('Yes, remove {name}', { name: model.name })} onConfirm={() => attempt(client.models.remove(model.name))} />
            </div>
          </li>
        ))}
      </ul>
      <Others models={data} />
      <ConnectModel models={data} onSaved={(name) => attempt(Promise.resolve(), t('Connected {name}.', { name }))} />
    </div>
  )
}

function Facts({ model }: { model: ConnectedModel }) {
  return (
    <div>
      <span className="font-medium">{model.name}</span>
      {model.default && <span className="ms-2 rounded-full bg-hover px-2 text-tiny">{t('Default for new agents')}</span>}
      <span className="block font-mono text-ink-soft">{model.title}</span>
      <Key model={model} />
      <Agents list={model.agents} />
    </div>
  )
}

function Others({ models }: { models: Found }) {
  if (models.others.length === 0) return null
  return (
    <section aria-label={t('Other models that agents use')} className="text-small">
      <h3 className="text-large">{t('Other models that agents use')}</h3>
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
  if (model.install) return <span className="block text-bad">{rich('A package is missing. Run {command} where Majlis runs, then restart it.', { command: <code dir="ltr">{model.install}</code> })}</span>
  if (!model.key.name) return null
  return model.key.set ? <span className="block text-ink-soft">{t('Key: {name}', { name: model.key.name })}</span> : <span className="block text-bad">{t('The key {name} is not set.', { name: model.key.name })}</span>
}

function Agents({ list }: { list: ConnectedModel['agents'] }) {
  if (list.length === 0) return <span className="block text-ink-soft">{t('No agent uses it yet')}</span>
  return <span className="block text-ink-soft">{rich('Used by {agents}', { agents: list.map((agent, n) => <span key={agent.id}>{n > 0 && t(', ')}<Link href={`/admin/agents/${agent.id}`} className="text-link"><bdi>{agent.name}</bdi></Link></span>) })}</span>
}

function names(agents: readonly { name: string }[]): string {
  const shown = agents.slice(0, 2).map((agent) => agent.name)
  return agents.length > 2 ? t('{names} and {n} more', { names: shown.join(t(', ')), n: agents.length - 2 }) : listed(shown)
}
