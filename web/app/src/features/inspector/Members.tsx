import type { Member, SpaceRole, SpaceState } from '@majlis/client'
import { useMajlis, useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Chat, Close } from '../../ui/icons.tsx'
import { duration, useNow } from '../../ui/time.ts'
import { useAgentStatus, type AgentStatus } from '../agents/agentStatus.ts'
import { InviteButton } from '../invites/InviteButton.tsx'
import { OnlineDot } from '../spaces/OnlineDot.tsx'
import { SPACE_ROLES } from '../spaces/roles.ts'
import { openDirect } from '../spaces/openDirect.ts'
import { AddMember } from './AddMember.tsx'

export function Members({ space }: { space: SpaceState }) {
  const me = useMe()!
  const admin = !space.facts.direct && space.members.find((member) => member.id === me.id)?.role === 'admin'
  const people = space.members.filter((member) => member.type === 'human')
  const others = space.members.filter((member) => member.type !== 'human')
  return (
    <div className="space-y-5">
      {others.length > 0 && <Group title={others.some((member) => member.type === 'service') ? t('Agents and services') : t('Agents')} members={others} spaceId={space.facts.id} removable={admin} />}
      <Group title={t('People')} members={people} spaceId={space.facts.id} removable={admin} />
      {admin && <AddMember space={space} />}
      {admin && me.role !== 'member' && <InviteButton spaceId={space.facts.id} className="rounded-md border border-line-strong bg-paper-high px-3 py-1.5 text-small hover:bg-hover">{t('Invite people')}</InviteButton>}
    </div>
  )
}

function Group({ title, members, spaceId, removable }: { title: string; members: Member[]; spaceId: string; removable: boolean }) {
  return (
    <section>
      <h3 className="mb-1 font-sans text-small text-ink-soft">{title}</h3>
      <ul>
        {members.map((member) => <Row key={member.id} member={member} spaceId={spaceId} removable={removable} />)}
      </ul>
    </section>
  )
}

function Row({ member, spaceId, removable }: { member: Member; spaceId: string; removable: boolean }) {
  const me = useMe()!
  const store = useStore()
  const [problem, setProblem] = useState('')
  const [leaving, setLeaving] = useState(false)
  const mine = member.id === me.id
  const direct = useMajlis((state) => state.spaces[spaceId]?.facts.direct)
  const status = useAgentStatus(member.id, spaceId)
  const remove = () => store.client.spaces.remove(spaceId, member.id).catch((error: Error) => setProblem(error.message))
  const setRole = (role: SpaceRole) => store.client.spaces.add(spaceId, { entityId: member.id, role }).catch((error: Error) => setProblem(error.message))
  const body = (
    <>
      <span className="relative">
        <Avatar id={member.id} name={member.name} type={member.type} />
        {member.type === 'human' && !mine && <OnlineDot id={member.id} corner />}
      </span>
      <span className="min-w-0 flex-1 text-start">
        <span className="block truncate leading-tight font-medium"><bdi>{member.name}</bdi>{mine ? ` ${t('(you)')}` : ''}</span>
        <span className="block text-small leading-tight text-ink-soft">
          {member.type === 'agent' ? <Status status={status} /> : member.type === 'service' && member.role === 'member' ? t('Service') : t(SPACE_ROLES[member.role])}
        </span>
      </span>
    </>
  )
  return (
    <li className="flex flex-wrap items-center gap-1">
      {member.type === 'agent' ? (
        <button type="button" className="-mx-2 flex min-w-0 flex-1 items-center gap-3 rounded-md px-2 py-1.5 hover:bg-hover" onClick={() => inspect({ kind: 'agent', id: member.id })}>{body}</button>
      ) : (
        <span className="flex min-w-0 flex-1 items-center gap-3 py-1.5">{body}</span>
      )}
      {!mine && !direct && member.type !== 'service' && <IconButton label={t('Message {name}', { name: member.name })} className="size-8" onClick={() => void openDirect(store, member.id)}><Chat className="size-4" /></IconButton>}
      {removable && !mine && (
        <select aria-label={t('Role for {name}', { name: member.name })} value={member.role} className="field w-auto py-1 text-tiny" onChange={(event) => void setRole(event.target.value as SpaceRole)}>
          <option value="admin">{t('Admin')}</option><option value="member">{t('Member')}</option><option value="viewer">{t('Viewer')}</option>
        </select>
      )}
      {removable && !(mine && leaving) && <IconButton label={mine ? t('Leave space') : t('Remove {name}', { name: member.name })} className="size-8" onClick={() => (mine ? setLeaving(true) : void remove())}><Close className="size-4" /></IconButton>}
      {removable && mine && leaving && <Button look="bad" onClick={() => void remove()}>{t('Yes, leave space')}</Button>}
      {problem && <p role="alert" className="w-full text-small text-bad">{problem}</p>}
    </li>
  )
}

function Status({ status }: { status: AgentStatus }) {
  const now = useNow()
  if (status.state === 'idle') return t('Idle')
  const time = duration(now - status.since)
  if (status.state === 'thinking') return <span className="text-agent">{t('Thinking for {time}', { time })}</span>
  return <span className="text-agent">{status.for === 'tool' ? t('Waiting {time} for your decision', { time }) : t('Waiting {time} for a reply', { time })}</span>
}
