import type { SpaceState } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useId, useState, type FormEvent } from 'react'

import { t } from '../../language/words.ts'
import { allPages } from '../../ui/allPages.ts'
import { Button } from '../../ui/Button.tsx'
import { TYPES } from '../spaces/roles.ts'
import { useQuery } from '../../ui/useQuery.ts'

export function AddMember({ space }: { space: SpaceState }) {
  const store = useStore()
  const listId = useId()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState('')
  const { data } = useQuery('entities', () => allPages((page) => store.client.entities.list(page)))
  const known = new Set(space.members.map((member) => member.id))
  const others = (data ?? []).filter((entity) => !known.has(entity.id))
  const add = async (event: FormEvent) => {
    event.preventDefault()
    const wanted = others.find((entity) => entity.name.toLocaleLowerCase() === name.trim().toLocaleLowerCase())
    if (!wanted) return setProblem(t('“{name}” was not found or is already a member.', { name: name.trim() }))
    try {
      await store.client.spaces.add(space.facts.id, { entityId: wanted.id, role: 'member' })
      setName('')
      setProblem('')
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="border-t border-line pt-4" onSubmit={(event) => void add(event)}>
      <label htmlFor={`${listId}-name`} className="mb-1 block text-small text-ink-soft">{t('Add member')}</label>
      <div className="flex gap-2">
        <input id={`${listId}-name`} list={listId} required autoComplete="off" placeholder={t('Name of a person, agent or service')} className="field text-small" value={name} onChange={(event) => setName(event.target.value)} />
        <Button type="submit">{t('Add')}</Button>
      </div>
      <datalist id={listId}>{others.map((entity) => <option key={entity.id} value={entity.name}>{t(TYPES[entity.type])}</option>)}</datalist>
      <p role="alert" className="mt-1 text-small text-bad">{problem}</p>
    </form>
  )
}
