import type { ModelProblem, ModelProvider, Models } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { plural, rich, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { oneDecimal } from '../../ui/format.ts'
import { SIZE_SOURCE } from '../../ui/sizeSource.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { FindServers } from './FindServers.tsx'

const OTHER = 'other'
interface Result { good?: string; notes?: string[]; problem?: ModelProblem | null }

/** Choose a provider, paste a key, choose one of its models, test it and save it. */
export function ConnectModel({ models, onSaved }: { models: Models; onSaved: (name: string) => void }) {
  const { client } = useStore()
  const { data: providers, problem } = useQuery('providers', () => client.models.providers())
  const [chosen, setChosen] = useState('openai')
  const [address, setAddress] = useState('')
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const [offers, setOffers] = useState<string[]>([])
  const [isDefault, setDefault] = useState(true)
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<Result>({})
  if (!providers) return <p role="alert" className="text-small text-bad">{problem}</p>

  const provider = providers.find((each) => each.name === chosen)
  const base = chosen === OTHER ? { provider: 'openai', baseUrl: address.trim() } : { provider: chosen }
  const stored = storedKey(models, base)
  const secret = !key && stored ? { apiKey: stored } : {}
  const pasted = key ? { key } : {}
  const choose = (to: string, server?: { address: string; offers: string[] }) => {
    setChosen(to)
    setAddress(server?.address ?? '')
    setOffers(server?.offers ?? [])
    setName(server?.offers[0] ?? '')
    setKey('')
    setResult({})
  }
  const attempt = (work: () => Promise<Result>) => {
    setBusy(true)
    setResult({})
    void work().then(setResult, (error: Error) => setResult({ problem: { code: '', message: error.message, detail: '' } })).finally(() => setBusy(false))
  }
  const look = () => attempt(async () => {
    const { models: found, problem } = await client.models.look({ ...base, ...secret, ...pasted })
    setOffers(found)
    if (!problem && !found.includes(name)) setName(found.length === 1 ? found[0]! : '')
    return problem ? { problem } : { good: found.length > 0 ? plural(found.length, '{n} model found. Choose one.', '{n} models found. Choose one.') : t('The server lists no chat models. Type the name of the model.') }
  })
  const model = { ...base, ...secret, name: name.trim() }
  const test = () => attempt(async () => {
    const { text, callsTools, millis, context, problem } = await client.models.test({ model, ...pasted })
    if (problem) return { problem }
    const size = context ? t('Longest request: {tokens} ({source})', { tokens: plural(context.tokens, '{n} token', '{n} tokens'), source: t(SIZE_SOURCE[context.source]) }) : ''
    const silent = callsTools ? '' : t('It answered without using the tool it was offered. If agents with this model stay silent, set their “Speak” to text.')
    return { good: t('It answered in {seconds} s: “{text}”', { seconds: oneDecimal(millis / 1000), text }), notes: [size, silent] }
  })
  const save = (event: FormEvent) => {
    event.preventDefault()
    attempt(async () => {
      const label = labelOf(model.name)
      await client.models.connect(label, { model, ...pasted, default: isDefault })
      choose(chosen)
      onSaved(label)
      return {}
    })
  }
  return (
    <section aria-label={t('Connect a model')} className="space-y-4 border-t border-line pt-5">
      <h3 className="text-large">{t('Connect a model')}</h3>
      <FindServers onChoose={(found) => choose(found.provider, { address: '', offers: found.models })} />
      <form className="space-y-3" onSubmit={save}>
        <label className="block"><span className="mb-1 block text-small font-medium">{t('Provider')}</span><ProviderSelect providers={providers} value={chosen} onChange={choose} /></label>
        {chosen === OTHER && <label className="block"><span className="mb-1 block text-small font-medium">{t('Address')}</span><input required value={address} placeholder="https://llm.example.com/v1" autoComplete="off" className="field max-w-sm" onChange={(event) => setAddress(event.target.value)} /></label>}
        {provider?.install && <p role="alert" className="text-small text-bad">{rich('{provider} needs a package. Run {command} where Majlis runs, then restart it.', { provider: provider.title, command: <code dir="ltr">{provider.install}</code> })}</p>}
        {!provider?.local && (
          <div>
            <label className="block"><span className="mb-1 block text-small font-medium">{t('API key')}</span><input type="password" value={key} autoComplete="new-password" aria-describedby="key-about" className="field max-w-sm" onChange={(event) => setKey(event.target.value)} /></label>
            <p id="key-about" className="mt-1 text-small text-ink-soft">{keyHint(provider, stored)} {provider?.keyUrl && <a href={provider.keyUrl} target="_blank" rel="noreferrer" className="text-link underline underline-offset-4">{t('Get a key')}</a>}</p>
          </div>
        )}
        <Button disabled={busy} onClick={look}>{t('Show models')}</Button>
        <label className="block"><span className="mb-1 block text-small font-medium">{t('Model')}</span><input required list="offered-models" value={name} maxLength={200} autoComplete="off" className="field max-w-sm" onChange={(event) => setName(event.target.value)} /></label>
        <datalist id="offered-models">{offers.map((each) => <option key={each} value={each} />)}</datalist>
        <label className="flex items-center gap-2 text-small"><input type="checkbox" checked={isDefault} className="accent-link" onChange={(event) => setDefault(event.target.checked)} />{t('Use it for new agents')}</label>
        <Outcome result={result} busy={busy} />
        <div className="flex gap-2">
          <Button disabled={busy || !model.name} onClick={test}>{t('Test')}</Button>
          <Button type="submit" look="primary" disabled={busy || !model.name}>{t('Save')}</Button>
        </div>
      </form>
    </section>
  )
}

function Outcome({ result, busy }: { result: Result; busy: boolean }) {
  return (
    <div className="text-small">
      <p role="status" className="text-agent empty:hidden">{busy ? t('Asking the model server…') : result.good}</p>
      {result.notes?.map((note) => note && <p key={note} className="text-ink-soft">{note}</p>)}
      {result.problem && <p role="alert" className="text-bad">{result.problem.message}{result.problem.detail && <span className="block text-ink-soft">{t('The server says: {text}', { text: result.problem.detail })}</span>}</p>}
    </div>
  )
}

function ProviderSelect({ providers, value, onChange }: { providers: readonly ModelProvider[]; value: string; onChange: (name: string) => void }) {
  const options = (local: boolean) => providers.filter((each) => each.local === local).map((each) => <option key={each.name} value={each.name}>{each.title}</option>)
  return (
    <select value={value} className="field max-w-sm" onChange={(event) => onChange(event.target.value)}>
      <optgroup label={t('Providers')}>{options(false)}</optgroup>
      <optgroup label={t('On the server’s machine')}>{options(true)}</optgroup>
      <optgroup label={t('Elsewhere')}><option value={OTHER}>{t('Another server (OpenAI-compatible)')}</option></optgroup>
    </select>
  )
}

function keyHint(provider: ModelProvider | undefined, stored: string | null): string {
  if (stored) return t('Leave it empty to use the stored key {stored}. A new key replaces it.', { stored })
  if (provider?.keySet) return t('Leave it empty to use the server’s {keyVariable}.', { keyVariable: provider.keyVariable ?? '' })
  return provider ? t('Stored encrypted, sent only to this provider, and never shown again.') : t('Leave it empty if the server needs none. It is stored encrypted and sent only there.')
}

function storedKey(models: Models, base: { provider: string; baseUrl?: string }): string | null {
  for (const { model } of models.models) {
    const each = model as { provider?: string; baseUrl?: string; apiKey?: string } | string
    if (typeof each === 'object' && each.apiKey && each.provider === base.provider && (each.baseUrl ?? '') === (base.baseUrl ?? '')) return each.apiKey
  }
  return null
}

/** The name that the model is stored under: without slashes and colons. */
function labelOf(model: string): string {
  return model.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '').slice(0, 64)
}
