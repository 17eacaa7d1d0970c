import { useStore } from '@majlis/client/react'
import { useId } from 'react'

import { msg, t } from '../../language/words.ts'
import { useQuery } from '../../ui/useQuery.ts'

interface ModelObject {
  provider?: unknown
  name?: unknown
  baseUrl?: unknown
  apiKey?: unknown
  apiKeyEnv?: unknown
}

const PARTS = [
  ['provider', msg('Provider'), msg('For example openai. Also use openai for a server of your own with the Chat Completions protocol.')],
  ['name', msg('Model name'), msg('The provider’s name for it, for example gpt-5.2 or qwen3:8b.')],
  ['baseUrl', msg('Base URL (optional)'), msg('For a model server of your own, for example http://127.0.0.1:11434/v1.')],
  ['apiKey', msg('Key (optional)'), msg('The name of a secret: secret:NAME. Add it under Secrets.')],
  ['apiKeyEnv', msg('Environment variable of the key (optional)'), msg('The name of the variable, not the key.')],
] as const

/** The model: a name such as openai:gpt-5.2, or the parts of a model server of one's own. Further settings are kept. */
export function ModelField({ value, onChange }: { value: unknown; onChange: (value: unknown) => void }) {
  const id = useId()
  const { client } = useStore()
  const connected = useQuery('models', () => client.models.list()).data?.models ?? []
  const own = value !== null && typeof value === 'object'
  const model = (own ? value : {}) as ModelObject
  const split = (name: string): ModelObject => ({ provider: name.includes(':') ? name.split(':')[0] : 'openai', name: name.split(':').slice(1).join(':') })
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 text-small font-medium">{t('Model')}</legend>
      {connected.length > 0 && (
        <label className="block text-small"><span className="mb-1 block">{t('Connected model')}</span>
          <select value={connected.find((each) => sameModel(each.model, value))?.name ?? ''} className="field max-w-sm" onChange={(event) => onChange(connected.find((each) => each.name === event.target.value)?.model ?? value)}>
            <option value="">{t('Another model')}</option>
            {connected.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}
          </select>
        </label>
      )}
      <div className="flex flex-wrap gap-4 text-small">
        <label className="flex items-center gap-2"><input type="radio" name={id} checked={!own} className="accent-link" onChange={() => onChange(model.name ? `${String(model.provider)}:${String(model.name)}` : 'demo')} />{t('By name')}</label>
        <label className="flex items-center gap-2"><input type="radio" name={id} checked={own} className="accent-link" onChange={() => onChange(split(String(value ?? '')))} />{t('With its own address or key')}</label>
      </div>
      {!own && (
        <div>
          <label htmlFor={`${id}-name`} className="unseen">{t('Model')}</label>
          <input id={`${id}-name`} value={String(value ?? '')} placeholder={t('provider:model, or demo')} className="field max-w-sm" onChange={(event) => onChange(event.target.value)} />
        </div>
      )}
      {own && PARTS.map(([key, label, about]) => (
        <div key={key}>
          <label htmlFor={`${id}-${key}`} className="block text-small font-medium">{t(label)}</label>
          <span id={`${id}-${key}-about`} className="block text-small text-ink-soft">{t(about)}</span>
          <input id={`${id}-${key}`} aria-describedby={`${id}-${key}-about`} value={String(model[key] ?? '')} className="field mt-1 max-w-sm" onChange={(event) => onChange(withPart(model, key, event.target.value))} />
        </div>
      ))}
    </fieldset>
  )
}

function sameModel(one: unknown, other: unknown): boolean {
  const place = (model: unknown) => typeof model === 'string' ? model : `${(model as ModelObject).provider}:${(model as ModelObject).name} ${(model as ModelObject).baseUrl ?? ''}`.trim()
  return other !== undefined && other !== null && place(one) === place(other)
}

function withPart(model: ModelObject, key: keyof ModelObject, text: string): ModelObject {
  const { [key]: _, ...rest } = model
  return text || key === 'provider' || key === 'name' ? { ...rest, [key]: text } : rest
}
