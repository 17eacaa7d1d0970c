import { unread, type PendingCall, type SpaceState } from '@majlis/client'
import { useMajlis, useMe, useSpaces } from '@majlis/client/react'
import type { ReactNode } from 'react'

import { count, plural, rich, t } from '../../language/words.ts'
import { messagePath, spacePath } from '../../router.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { brief, useToday } from '../../ui/time.ts'
import { lineOf } from '../markdown/plainText.ts'
import { NewSpace } from '../spaces/NewSpace.tsx'
import { usePreferences } from '../spaces/preferences.ts'
import { Failures } from './Failures.tsx'
import { Meanwhile } from './Meanwhile.tsx'
import { Questions } from './Questions.tsx'
import { Starters } from './Starters.tsx'

/** Shows decisions that wait for the user first, then unread messages. Administrators also see agents that failed. */
export default function Home() {
  const spaces = useSpaces()
  const me = useMe()!
  const pending = useMajlis((state) => Object.values(state.agents.pending))
  const preferences = usePreferences(me.id)
  const fresh = spaces.filter((space) => unread(space) > 0 && !preferences.archived.includes(space.facts.id)).toSorted((a, b) => Number(b.mentions.length > 0) - Number(a.mentions.length > 0))
  useToday()
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto max-w-column space-y-8 p-6 md:py-10">
        <div>
          <h2 className="text-title">{t('Welcome to Majlis')}</h2>
          <p className="text-ink-soft">{summary(pending.length, fresh.length, spaces.length)}</p>
        </div>
        {pending.length > 0 && (
          <Section title={t('Needs your decision')}>
            {pending.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)).map((call) => <Decision key={`${call.runId} ${call.toolCallId}`} call={call} />)}
          </Section>
        )}
        <Questions />
        {me.role !== 'member' && <Failures />}
        {fresh.length > 0 && <Section title={t('Unread')}>{fresh.map((space) => <UnreadSpace key={space.facts.id} space={space} />)}</Section>}
        <Meanwhile />
        {spaces.length === 0 && <NewSpace label={t('Create space')} />}
        {me.role !== 'member' && <Starters />}
      </div>
    </div>
  )
}

function summary(decisions: number, fresh: number, spaces: number): string {
  if (spaces === 0) return t('Create a space and add people and agents to it. Only members of a space can read its messages.')
  if (decisions + fresh === 0) return t('You’re all caught up.')
  return t('Here is what happened while you were away.')
}

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-2 text-large">{title}</h3>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-paper-high">{children}</ul>
    </section>
  )
}

export const ROW = 'flex items-center gap-3 px-4 py-2.5 hover:bg-hover'

function Decision({ call }: { call: PendingCall }) {
  const space = useMajlis((state) => state.spaces[call.spaceId]?.facts.name ?? '')
  const question = (call.input as { question?: unknown } | null)?.question
  return (
    <li>
      <Link href={messagePath(call.spaceId, call.messageId)} className={ROW}>
        <Avatar id={call.agentId} name={call.agentName} type="agent" />
        <span className="min-w-0 flex-1">
          <span dir="auto" className="block truncate text-along">{call.purpose === 'permission' ? rich('{name} wants to use {tool}', { name: <bdi className="font-semibold">{call.agentName}</bdi>, tool: <span dir="ltr" className="font-mono text-[0.9em]">{call.name}</span> }) : typeof question === 'string' ? <><bdi className="font-semibold">{call.agentName}</bdi> {question}</> : rich('{name} asks a question', { name: <bdi className="font-semibold">{call.agentName}</bdi> })}</span>
          <span className="block truncate text-small text-ink-soft"><bdi>{space}</bdi>{dot()}{brief(call.createdAt)}</span>
        </span>
        <span className="text-small text-decide">{t('Decide')}</span>
      </Link>
    </li>
  )
}

function UnreadSpace({ space }: { space: SpaceState }) {
  const { facts, lastMessage } = space
  return (
    <li>
      <Link href={spacePath(facts.id)} className={ROW}>
        <span className="min-w-0 flex-1">
          <bdi className="block truncate text-along font-semibold">{facts.name}</bdi>
          {lastMessage && <span dir="auto" className="block truncate text-along text-small text-ink-soft"><bdi>{lastMessage.sender.name}</bdi>: {lineOf(lastMessage)}</span>}
        </span>
        {space.mentions.length > 0 && <span className="text-small text-unread">{plural(space.mentions.length, '{n} mention of you', '{n} mentions of you')}</span>}
        <span className="rounded-full bg-unread px-2 text-tiny font-semibold text-unread-ink">{count(unread(space))}<span className="unseen"> {t('unread')}</span></span>
      </Link>
    </li>
  )
}
