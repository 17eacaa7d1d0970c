import type { SpaceState } from '@majlis/client'
import { useSpaces } from '@majlis/client/react'

import { spacePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'

const WAKES = { everyone: 'wakes every agent', mentioned: 'wakes who is called', orchestrated: 'one agent decides' }

/** The spaces that one is in, with their members and settings. Others are their members' own business, whoever looks after the gateway. */
export function Spaces() {
  const spaces = useSpaces()
  return (
    <div className="space-y-4">
      <ul className="divide-y divide-line">{spaces.map((space) => <li key={space.facts.id}><Row space={space} /></li>)}</ul>
      <p className="text-small text-ink-soft">These are the spaces that you are in. Others belong to their members; nobody looks into them from outside.</p>
    </div>
  )
}

function Row({ space: { facts, members } }: { space: SpaceState }) {
  const agents = members.filter((member) => member.type === 'agent').length
  const at = spacePath(facts.id)
  return (
    <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1 py-2">
      <Link href={at} className="min-w-0 flex-1 truncate rounded-sm font-medium hover:underline"><bdi>{facts.name}</bdi></Link>
      <span className="text-small text-ink-soft">{WAKES[facts.triggers]}</span>
      <Link href={`${at}?inspect=members`} className="rounded-sm text-small text-warm underline underline-offset-4">{members.length} members, {agents} of them agents</Link>
      <Link href={`${at}?inspect=settings`} className="rounded-sm text-small text-warm underline underline-offset-4">Settings<span className="unseen"> of {facts.name}</span></Link>
    </div>
  )
}
