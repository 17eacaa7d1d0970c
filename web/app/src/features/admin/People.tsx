import type { Entity } from '@majlis/client'
import { useIsOnline, useMe, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { ago, fullTime, useToday } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { useFilter } from '../../ui/useFilter.tsx'
import { ROLES } from './roles.ts'

export function People() {
  const { client } = useStore()
  const { data, problem } = useQuery('people', async () => {
    const [people, services] = await Promise.all((['human', 'service'] as const).map((type) => allPages((page) => client.entities.list({ type, ...page }))))
    return [...people!, ...services!]
  })
  const { field, found } = useFilter(data, t('Search people and services'))
  return (
    <div className="space-y-8">
      {problem && <p role="alert" className="text-bad">{problem}</p>}
      {field}
      <ul className="divide-y divide-line">{found.map((entity) => <li key={entity.id}><Row entity={entity} /></li>)}</ul>
      {/* Not before the list, which would push it away from under the pointer. */}
      {(data || problem) && <NewEntity />}
    </div>
  )
}

function Row({ entity }: { entity: Entity }) {
  return (
    <Link href={`/admin/people/${entity.id}`} className="-mx-2 flex items-center gap-3 rounded-md px-2 py-2 hover:bg-hover">
      <Avatar id={entity.id} name={entity.name} type={entity.type} picture={entity.picture} />
      <span className="min-w-0 flex-1 leading-tight">
        <bdi className="block truncate text-along font-medium">{entity.name}</bdi>
        {entity.type === 'human' && <Seen entity={entity} />}
      </span>
      <span className="text-small text-ink-soft">{entity.type === 'service' ? t('Service') : t(ROLES[entity.role])}</span>
    </Link>
  )
}

/** The app was open then. People who only use a token are never seen. */
export function Seen({ entity }: { entity: Entity }) {
  const online = useIsOnline(entity.id)
  const me = useMe()?.id === entity.id
  useToday()
  const text = online || me ? t('Online') : entity.lastSeenAt ? t('Last seen {time}', { time: ago(entity.lastSeenAt) }) : t('Never signed in to the app')
  return <span className="block text-small text-ink-soft" title={entity.lastSeenAt ? fullTime(entity.lastSeenAt) : undefined}>{text}</span>
}

function NewEntity() {
  const { client } = useStore()
  const [type, setType] = useState<'human' | 'service'>('human')
  const [problem, setProblem] = useState('')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      const made = await client.entities.create({ type, name: String(form.get('name')).trim() })
      go(`/admin/people/${made.id}`)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 border-t border-line pt-5" onSubmit={(event) => void create(event)}>
      <h3 className="text-large">{type === 'human' ? t('Add person') : t('Add service')}</h3>
      <div className="flex flex-wrap gap-2">
        <input name="name" required maxLength={64} autoComplete="off" aria-label={t('Name')} placeholder={t('Name')} className="field max-w-xs" />
        <select aria-label={t('Type')} value={type} className="field w-auto" onChange={(event) => setType(event.target.value as typeof type)}><option value="human">{t('Person')}</option><option value="service">{t('Service')}</option></select>
        <Button type="submit" look="primary">{t('Add')}</Button>
      </div>
      <p role="alert" className="text-small text-bad">{problem}</p>
    </form>
  )
}
