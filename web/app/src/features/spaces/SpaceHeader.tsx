import type { Member, SpaceState } from '@majlis/client'

import { plural, t } from '../../language/words.ts'
import { go, inspect, useInspect } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { IconButton } from '../../ui/Button.tsx'
import { Back, Panel } from '../../ui/icons.tsx'
import { StatusDot } from '../agents/StatusDot.tsx'
import { useAgentStatus } from '../agents/agentStatus.ts'
import { OnlineDot } from './OnlineDot.tsx'
import { SpaceMenu } from './SpaceMenu.tsx'

const SHOWN = 5

export function SpaceHeader({ space }: { space: SpaceState }) {
  const open = useInspect() !== null
  const { facts, members } = space
  const agentsFirst = members.toSorted((a, b) => Number(b.type === 'agent') - Number(a.type === 'agent'))
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 border-b border-line pe-2 ps-2 md:ps-6">
      <IconButton label={t('All spaces')} className="md:hidden" onClick={() => go('/')}><Back /></IconButton>
      <div className="min-w-0 flex-1">
        <h2 id="space-name" dir="auto" className="truncate text-along text-large leading-tight">{facts.name}</h2>
        {facts.description && <p dir="auto" className="hidden truncate text-along text-small leading-tight text-ink-soft md:block">{facts.description}</p>}
      </div>
      <button
        type="button"
        className="flex items-center gap-1 rounded-md p-1 hover:bg-hover"
        onClick={() => inspect({ kind: 'members' })}
      >
        <span className="unseen">{plural(members.length, '{n} member', '{n} members')}</span>
        {agentsFirst.slice(0, SHOWN).map((member, n) => <Face key={member.id} member={member} spaceId={facts.id} narrow={n === 0} />)}
        {members.length > 1 && <span aria-hidden dir="ltr" className="ps-1 text-small text-ink-soft md:hidden">+{members.length - 1}</span>}
        {members.length > SHOWN && <span aria-hidden dir="ltr" className="hidden ps-1 text-small text-ink-soft md:inline">+{members.length - SHOWN}</span>}
      </button>
      <SpaceMenu spaceId={facts.id} />
      <IconButton label={open ? t('Close inspector') : t('Open inspector')} aria-expanded={open} onClick={() => inspect(open ? null : { kind: 'runs' })}>
        <Panel />
      </IconButton>
    </header>
  )
}

function Face({ member, spaceId, narrow }: { member: Member; spaceId: string; narrow: boolean }) {
  const { state } = useAgentStatus(member.id, spaceId)
  return (
    <span className={`relative ${narrow ? 'inline-flex' : 'hidden md:inline-flex'}`} title={member.name}>
      <Avatar id={member.id} name={member.name} type={member.type} size="small" />
      {member.type === 'human' && <OnlineDot id={member.id} corner />}
      {state !== 'idle' && <span className="absolute -end-0.5 -bottom-0.5 grid rounded-full bg-paper p-0.5"><StatusDot state={state} /></span>}
    </span>
  )
}
