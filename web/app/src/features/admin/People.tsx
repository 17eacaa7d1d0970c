import type { Entity } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { go } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { useFilter } from '../../ui/useFilter.tsx'

export function People() {
  const { client } = useStore()
  const { data, problem } = useQuery('people', async () => {
    const [people, services] = await Promise.all((['human', 'service'] as const).map((type) => allPages((page) => client.entities.list({ type, ...page }))))
    return [...people!, ...services!]
  })
  const { field, found, none } = useFilter(data, 'Find a person or service')
  return (
    <div className="space-y-8">
      {problem && <p role="alert" className="text-bad">{problem}</p>}
      {field}
      {none && <p className="text-ink-soft">Nobody is called so.</p>}
      <ul className="divide-y divide-line">{found.map((entity) => <li key={entity.id}><Row entity={entity} /></li>)}</ul>
      <NewEntity />
    </div>
  )
}

function Row({ entity }: { entity: Entity }) {
  return (
    <Link href={`/admin/people/${entity.id}`} className="-mx-2 flex items-center gap-3 rounded-md px-2 py-2 hover:bg-hover">
      <Avatar id={entity.id} name={entity.name} type={entity.type} />
      <bdi className="min-w-0 flex-1 truncate text-left font-medium">{entity.name}</bdi>
      <span className="text-small text-ink-soft">{entity.type === 'service' ? 'service' : entity.role}</span>
    </Link>
  )
}

function NewEntity() {
  const { client } = useStore()
  const [problem, setProblem] = useState('')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      const made = await client.entities.create({ type: String(form.get('type')) as 'human' | 'service', name: String(form.get('name')).trim() })
      go(`/admin/people/${made.id}`)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 border-t border-line pt-5" onSubmit={(event) => void create(event)}>
      <h3 className="text-large">Somebody new</h3>
      <div className="flex flex-wrap gap-2">
        <input name="name" required maxLength={64} autoComplete="off" aria-label="Name" placeholder="Name" className="field max-w-xs" />
        <select name="type" aria-label="Kind" className="field w-auto"><option value="human">a person</option><option value="service">a service</option></select>
        <Button type="submit" look="primary">Add</Button>
      </div>
      <p role="alert" className="text-small text-bad">{problem}</p>
    </form>
  )
}
