import type { SpaceOutline } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'

import { spacePath } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { useFilter } from '../../ui/useFilter.tsx'
import { some } from '../inspector/runText.tsx'

const WAKES = { everyone: 'wakes every agent', mentioned: 'wakes who is called', orchestrated: 'one agent decides' }

/** Every space with its members. What is said in those that one is not in is their members' own business, whoever looks after the gateway. */
export function Spaces() {
  const { client } = useStore()
  const { data, problem } = useQuery('all spaces', () => allPages((page) => client.spaces.listAll(page)))
  const { field, found, none } = useFilter(data, 'Find a space')
  if (problem) return <p role="alert" className="text-bad">{problem}</p>
  return (
    <div className="space-y-4">
      {field}
      <ul className="divide-y divide-line">{found.map((space) => <li key={space.id}><Row space={space} /></li>)}</ul>
      {none && <p className="text-ink-soft">No space is called so.</p>}
      {data?.length === 0 && <p className="text-ink-soft">There is no space yet. The plus beside the name of the app makes one.</p>}
      <p className="text-small text-ink-soft">A space is changed by its own admins. Of those that you are not in you see who is in them, and nothing of what is said there.</p>
    </div>
  )
}

function Row({ space }: { space: SpaceOutline }) {
  const mine = useMajlis((state) => space.id in state.spaces)
  const agents = space.members.filter((member) => member.type === 'agent').length
  const people = space.members.filter((member) => member.type === 'human').length
  const at = spacePath(space.id)
  const link = 'rounded-sm text-small text-warm underline underline-offset-4'
  return (
    <details className="py-2">
      <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-4 gap-y-1 rounded-sm">
        <bdi className="min-w-40 flex-1 truncate text-left font-medium">{space.name}</bdi>
        <span className="text-small text-ink-soft tabular-nums">{some(people, 'person', 'people')}, {some(agents, 'agent')}, {some(space.messageCount, 'message')}</span>
      </summary>
      <div className="mt-2 space-y-2 text-small text-ink-soft">
        <p>{space.description ? `${space.description} · ` : ''}{WAKES[space.triggers]}</p>
        <p className="text-ink"><bdi>{space.members.map((member) => (member.role === 'member' ? member.name : `${member.name} (${member.role})`)).join(', ')}</bdi></p>
        {mine ? (
          <p className="flex gap-4">
            <Link href={at} className={link}>Open<span className="unseen"> {space.name}</span></Link>
            <Link href={`${at}?inspect=members`} className={link}>Members<span className="unseen"> of {space.name}</span></Link>
            <Link href={`${at}?inspect=settings`} className={link}>Settings<span className="unseen"> of {space.name}</span></Link>
          </p>
        ) : (
          <p>You are not in this space, so you can neither read nor change it. One of its admins can add you.</p>
        )}
      </div>
    </details>
  )
}
