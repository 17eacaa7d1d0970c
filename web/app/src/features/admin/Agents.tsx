import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { PauseButton } from '../../ui/PauseButton.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { useFilter } from '../../ui/useFilter.tsx'
import { TEMPLATES, type Template } from './templates.ts'

export function Agents() {
  const { client } = useStore()
  const { data, problem } = useQuery('agents', () => allPages((page) => client.agents.list(page)))
  const { field, found } = useFilter(data, t('Search agents'))
  return (
    <div className="space-y-8">
      {problem && <p role="alert" className="text-bad">{problem}</p>}
      <PauseAll />
      {field}
      <ul className="divide-y divide-line">
        {found.map((agent) => (
          <li key={agent.id}>
            <Link href={`/admin/agents/${agent.id}`} className="-mx-2 flex items-center gap-3 rounded-md px-2 py-2 hover:bg-hover">
              <Avatar id={agent.id} name={agent.name} type="agent" picture={agent.picture} />
              <span className="min-w-0 flex-1">
                <bdi className="block truncate text-along leading-tight font-medium">{agent.name}</bdi>
                <span className="block truncate text-small leading-tight text-ink-soft">{agent.config['mind'] === 'outside' ? t('Runs in your own program') : modelName(agent.config)}</span>
              </span>
              <span className="text-small text-ink-soft">{agent.paused ? t('Paused') : String(agent.config['mind'] ?? '')}</span>
            </Link>
          </li>
        ))}
      </ul>
      {(data || problem) && <NewAgent />}
    </div>
  )
}

/** Stops all agents of the server at once, for example while a mistake is corrected. */
function PauseAll() {
  const { client } = useStore()
  const { data } = useQuery('paused', () => client.agents.areAllPaused())
  if (!data) return null
  return (
    <div className="flex flex-wrap items-center gap-3">
      <PauseButton paused={data.paused} label={t('Pause all agents')} resumeLabel={t('Resume all agents')} onPause={() => client.agents.pauseAll()} onResume={() => client.agents.resumeAll()} />
      <p className="text-small text-ink-soft">{t('Paused agents start no runs. Messages to them are kept.')}</p>
    </div>
  )
}

function NewAgent() {
  const { client } = useStore()
  const preferred = useQuery('models', () => client.models.list()).data?.models.find((model) => model.default)
  const [problem, setProblem] = useState('')
  const [template, setTemplate] = useState<Template>(TEMPLATES[0]!)
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    try {
      const made = await client.agents.create({ name: String(new FormData(event.currentTarget).get('name')).trim(), config: { ...template.config, ...(preferred ? { model: preferred.model } : {}) } })
      go(`/admin/agents/${made.id}`)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 border-t border-line pt-5" onSubmit={(event) => void create(event)}>
      <h3 className="text-large">{t('Add agent')}</h3>
      <div className="flex gap-2">
        <input name="name" required maxLength={64} autoComplete="off" aria-label={t('Name')} placeholder={t('Name')} className="field max-w-xs" />
        <Button type="submit" look="primary">{t('Add')}</Button>
      </div>
      <fieldset className="grid gap-2 py-1 md:grid-cols-3">
        <legend className="mb-1 text-small text-ink-soft">{t('Start from')}</legend>
        {TEMPLATES.map((each) => (
          <label key={each.name} className="flex cursor-pointer items-start gap-2 rounded-md border border-line bg-paper-high p-2.5 text-small has-checked:border-ink-soft has-checked:bg-hover">
            <input type="radio" name="template" value={each.name} checked={each === template} className="mt-1 shrink-0 accent-link" onChange={() => setTemplate(each)} />
            <span><span className="block font-medium">{t(each.name)}</span><span className="text-ink-soft">{t(each.about)}</span></span>
          </label>
        ))}
      </fieldset>
      <p className="text-small text-ink-soft">{preferred ? t('New agents use {title}.', { title: preferred.title }) : t('New agents use the demo model, which needs no API key.')} {t('You can change it in the next step.')}</p>
      <p role="alert" className="text-small text-bad">{problem}</p>
    </form>
  )
}

function modelName(config: Readonly<Record<string, unknown>>): string {
  const model = config['model']
  return typeof model === 'string' ? model : String((model as { name?: unknown } | null)?.name ?? '')
}
