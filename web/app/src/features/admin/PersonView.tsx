import type { Entity } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { go } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { AccessList } from './AccessList.tsx'
import { CopyBox } from './CopyBox.tsx'
import { CurlExample } from './CurlExample.tsx'
import { PictureField } from '../profile/PictureField.tsx'
import { NewToken } from './NewToken.tsx'
import { Seen } from './People.tsx'
import { ROLES } from './roles.ts'

/** One person or service. Only owners can change an owner, because a token for an owner gives its holder that role. */
export function PersonView({ id }: { id: string }) {
  const { client } = useStore()
  const me = useMe()!
  const { data: entity, problem, reload } = useQuery(id, () => client.entities.get(id))
  if (!entity) return <QueryStatus problem={problem} />
  return (
    <div className="space-y-6">
      <h3 className="flex items-center gap-3 text-title"><Avatar id={id} name={entity.name} type={entity.type} picture={entity.picture} /><bdi className="truncate">{entity.name}</bdi></h3>
      {entity.type === 'human' && <Seen entity={entity} />}
      {entity.role === 'owner' && me.role !== 'owner' ? <p className="text-ink-soft">{t('This person is an owner. Only owners can change owners.')}</p> : <Account entity={entity} onChange={reload} />}
    </div>
  )
}

function Account({ entity, onChange }: { entity: Entity; onChange: () => void }) {
  const { client } = useStore()
  const { id } = entity
  const access = useQuery(`access ${id}`, () => client.entities.access(id))
  const [secret, setSecret] = useState<{ title: string; text: string } | null>(null)
  const [problem, setProblem] = useState('')
  const attempt = (work: Promise<unknown>) => void work.then(() => setProblem(''), (error: Error) => setProblem(error.message))

  const link = async () => {
    const { url } = await client.entities.createSignInLink(id)
    access.reload()
    setSecret({ title: t('This link works once and expires in 1 hour'), text: new URL(url, location.origin).href })
  }
  const token = async (wanted: { label?: string; expiresAt?: string }) => {
    const made = await client.entities.createToken(id, wanted)
    setSecret({ title: t('Copy this token now. It won’t be shown again.'), text: made.token })
    access.reload()
  }
  return (
    <>
      <p role="alert" className="text-small text-bad">{problem}</p>
      <PictureField entity={entity} onChange={onChange} />
      <Rename entity={entity} onChange={(name) => attempt(client.entities.change(id, { name }).then(onChange))} />
      <Role entity={entity} onChange={(role) => attempt(client.entities.change(id, { role }).then(onChange))} />
      <section className="space-y-3">
        <h4 className="font-serif text-large font-semibold">{t('Sign-in and tokens')}</h4>
        {entity.type === 'human' && <Button onClick={() => attempt(link())}>{t('Create sign-in link')}</Button>}
        <NewToken onCreate={(wanted) => attempt(token(wanted))} />
        {secret && <CopyBox {...secret} />}
        {access.data && <AccessList entityId={id} list={access.data} onChange={access.reload} attempt={attempt} />}
      </section>
      {entity.type === 'service' && <CurlExample token={secret?.text ?? null} name={entity.name} />}
      <Delete entity={entity} onDelete={() => attempt(client.entities.delete(id).then(() => go('/admin/people')))} />
    </>
  )
}

function Rename({ entity, onChange }: { entity: Entity; onChange: (name: string) => void }) {
  const [name, setName] = useState(entity.name)
  const changed = name.trim() !== '' && name.trim() !== entity.name
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(name.trim())
      }}
    >
      <label className="block"><span className="mb-1 block text-small text-ink-soft">{t('Name')}</span><input required maxLength={64} value={name} className="field max-w-xs" onChange={(event) => setName(event.target.value)} /></label>
      {changed && <Button type="submit">{t('Rename')}</Button>}
    </form>
  )
}

function Role({ entity, onChange }: { entity: Entity; onChange: (role: Entity['role']) => void }) {
  const me = useMe()!
  if (entity.type !== 'human') return null
  const mayChange = me.role === 'owner'
  return (
    <label className="flex flex-wrap items-center gap-3 text-small">
      <span className="text-ink-soft">{t('Role')}</span>
      <select value={entity.role} disabled={!mayChange} className="field w-auto" onChange={(event) => onChange(event.target.value as Entity['role'])}>
        {Object.entries(ROLES).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}
      </select>
      {!mayChange && <span className="text-ink-soft">{t('Only owners can change roles.')}</span>}
    </label>
  )
}

function Delete({ entity, onDelete }: { entity: Entity; onDelete: () => void }) {
  const me = useMe()!
  if (entity.id === me.id) return null
  return (
    <div className="border-t border-line pt-4">
      <ConfirmButton label={entity.type === 'human' ? t('Delete person') : t('Delete service')} confirm={t('Yes, delete {name}', { name: entity.name })} onConfirm={onDelete} />
      <p className="mt-1 text-small text-ink-soft">{t('Existing messages stay visible under this name.')}</p>
    </div>
  )
}
