import type { Entity } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { go } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { CurlExample } from './CurlExample.tsx'
import { NewToken } from './NewToken.tsx'
import { CopyBox } from './CopyBox.tsx'

/** One person or service. An owner is changed by owners only: a token for one would make an owner of whoever holds it. */
export function PersonView({ id }: { id: string }) {
  const { client } = useStore()
  const me = useMe()!
  const { data: entity, problem, again } = useQuery(id, () => client.entities.get(id))
  if (problem) return <p role="alert" className="text-bad">{problem}</p>
  if (!entity) return <p className="text-ink-soft">Looking…</p>
  return (
    <div className="space-y-6">
      <h3 className="flex items-center gap-3 text-title"><Avatar id={id} name={entity.name} type={entity.type} /><bdi className="truncate">{entity.name}</bdi></h3>
      {entity.role === 'owner' && me.role !== 'owner' ? <p className="text-ink-soft">An owner of this gateway. Only owners may change it.</p> : <Change entity={entity} again={again} />}
    </div>
  )
}

/** The ways in, and the way out. */
function Change({ entity, again }: { entity: Entity; again: () => void }) {
  const { client } = useStore()
  const { id } = entity
  const tokens = useQuery(`tokens ${id}`, () => client.entities.tokens(id))
  const [secret, setSecret] = useState<{ title: string; text: string } | null>(null)
  const [said, setSaid] = useState('')
  const attempt = (work: Promise<unknown>) => void work.then(() => setSaid(''), (error: Error) => setSaid(error.message))

  const link = async () => {
    const { url } = await client.entities.createSignInLink(id)
    setSecret({ title: 'Opens a session once, within the next minutes', text: new URL(url, location.origin).href })
  }
  const token = async (wanted: { label?: string; expiresAt?: string }) => {
    const made = await client.entities.createToken(id, wanted)
    setSecret({ title: 'Shown only now; keep it like a password', text: made.token })
    tokens.again()
  }
  const revoke = async (tokenId: string) => {
    await client.tokens.revoke(tokenId)
    tokens.again()
  }
  return (
    <>
      <p role="alert" className="text-small text-bad">{said}</p>
      <Rename entity={entity} onChange={(name) => attempt(client.entities.change(id, { name }).then(again))} />
      <Role entity={entity} onChange={(role) => attempt(client.entities.change(id, { role }).then(again))} />
      <section className="space-y-3">
        <h4 className="font-serif text-large font-semibold">Ways in</h4>
        {entity.type === 'human' && <Button onClick={() => attempt(link())}>One-time sign-in link</Button>}
        <NewToken onCreate={(wanted) => attempt(token(wanted))} />
        {secret && <CopyBox {...secret} />}
        <ul className="divide-y divide-line text-small">
          {tokens.data?.map((each) => (
            <li key={each.id} className="flex items-center gap-3 py-1.5">
              <span className="min-w-0 flex-1 truncate">{each.label ?? 'without a label'}<span className="block text-ink-soft">since {fullTime(each.createdAt)}{each.expiresAt ? `, until ${fullTime(each.expiresAt)}` : ''}</span></span>
              <Button look="bad" onClick={() => attempt(revoke(each.id))}>Revoke</Button>
            </li>
          ))}
        </ul>
      </section>
      {entity.type === 'service' && <CurlExample token={secret?.text ?? null} name={entity.name} />}
      <Leave entity={entity} onDelete={() => attempt(client.entities.delete(id).then(() => go('/admin/people')))} />
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
      <label className="block"><span className="mb-1 block text-small text-ink-soft">Name</span><input required maxLength={64} value={name} className="field max-w-xs" onChange={(event) => setName(event.target.value)} /></label>
      {changed && <Button type="submit">Rename</Button>}
    </form>
  )
}

function Role({ entity, onChange }: { entity: Entity; onChange: (role: Entity['role']) => void }) {
  const me = useMe()!
  if (entity.type !== 'human') return null
  const mayGive = me.role === 'owner'
  return (
    <label className="flex flex-wrap items-center gap-3 text-small">
      <span className="text-ink-soft">On this gateway</span>
      <select value={entity.role} disabled={!mayGive} className="field w-auto" onChange={(event) => onChange(event.target.value as Entity['role'])}>
        <option value="member">member</option><option value="admin">administrator</option><option value="owner">owner</option>
      </select>
      {!mayGive && <span className="text-ink-soft">Only owners give and take roles.</span>}
    </label>
  )
}

function Leave({ entity, onDelete }: { entity: Entity; onDelete: () => void }) {
  const me = useMe()!
  const [sure, setSure] = useState(false)
  if (entity.id === me.id) return null
  return (
    <div className="border-t border-line pt-4">
      {sure ? <Button look="bad" onClick={onDelete}>Really delete {entity.name}</Button> : <Button look="bad" onClick={() => setSure(true)}>Delete</Button>}
      <p className="mt-1 text-small text-ink-soft">What was said stays, under this name.</p>
    </div>
  )
}
