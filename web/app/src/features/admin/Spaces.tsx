import type { SpaceOutline } from '@majlis/client'
import { useMajlis, useStore } from '@majlis/client/react'

import { msg, plural, t } from '../../language/words.ts'
import { spacePath } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { SPACE_ROLES } from '../spaces/roles.ts'
import { useFilter } from '../../ui/useFilter.tsx'

const TRIGGERS = { everyone: msg('All agents respond'), mentioned: msg('Only @mentioned agents respond'), orchestrated: msg('The orchestrator decides who responds'), elected: msg('The agent a person last talked with responds') }

/** All spaces with their members. Administrators cannot read spaces that they are not members of. */
export function Spaces() {
  const { client } = useStore()
  const { data, problem } = useQuery('all spaces', () => allPages((page) => client.spaces.listAll(page)))
  const { field, found } = useFilter(data, t('Search spaces'))
  if (problem) return <p role="alert" className="text-bad">{problem}</p>
  return (
    <div className="space-y-4">
      {field}
      <ul className="divide-y divide-line">{found.map((space) => <li key={space.id}><Row space={space} /></li>)}</ul>
      {data?.length === 0 && <p className="text-ink-soft">{t('No spaces yet. Use the + button in the sidebar to create one.')}</p>}
      <p className="text-small text-ink-soft">{t('Only a space’s own admins can change it. For spaces you aren’t a member of, you can see the members but not the messages.')}</p>
    </div>
  )
}

function Row({ space }: { space: SpaceOutline }) {
  const mine = useMajlis((state) => space.id in state.spaces)
  const agents = space.members.filter((member) => member.type === 'agent').length
  const people = space.members.filter((member) => member.type === 'human').length
  const at = spacePath(space.id)
  const link = 'rounded-sm text-small text-link underline underline-offset-4'
  return (
    <details className="py-2">
      <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-2 gap-y-1 rounded-sm">
        <bdi className="min-w-40 flex-1 truncate text-along font-medium">{space.name}</bdi>
        <span className="text-small text-ink-soft tabular-nums">{[plural(people, '{n} person', '{n} people'), plural(agents, '{n} agent', '{n} agents'), plural(space.messageCount, '{n} message', '{n} messages')].join(t(', '))}</span>
      </summary>
      <div className="mt-2 space-y-2 text-small text-ink-soft">
        <p>{space.description ? `${space.description}${dot()}` : ''}{t(TRIGGERS[space.triggers])}</p>
        <p className="text-ink"><bdi>{space.members.map((member) => (member.role === 'member' ? member.name : `${member.name} (${t(SPACE_ROLES[member.role])})`)).join(t(', '))}</bdi></p>
        {mine ? (
          <p className="flex gap-4">
            <Link href={at} className={link} aria-label={t('Open {name}', { name: space.name })}>{t('Open')}</Link>
            <Link href={`${at}?inspect=members`} className={link} aria-label={t('Members of {name}', { name: space.name })}>{t('Members')}</Link>
            <Link href={`${at}?inspect=settings`} className={link} aria-label={t('Settings of {name}', { name: space.name })}>{t('Settings')}</Link>
          </p>
        ) : (
          <p>{t('You aren’t a member of this space, so you can’t read or change it. A space admin can add you.')}</p>
        )}
      </div>
    </details>
  )
}
