import { unread, type SpaceState } from '@majlis/client'
import { useMajlis, useMe, usePendingTools } from '@majlis/client/react'
import { memo } from 'react'

import { count as figure, listed, plural, t } from '../../language/words.ts'
import { spacePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { brief } from '../../ui/time.ts'
import { StatusDot } from '../agents/StatusDot.tsx'
import { draftOf } from '../composer/drafts.ts'
import { attachmentsOf } from '../files/attachments.ts'
import { fileNames } from '../files/kinds.ts'
import { lineOf } from '../markdown/plainText.ts'
import { OnlineDot } from './OnlineDot.tsx'

/** Memoized, because there can be hundreds of rows. `today` is a prop so that times are formatted again after midnight. */
export const SpaceRow = memo(function SpaceRow({ space, here, muted }: { space: SpaceState; here: boolean; muted: boolean; today: string }) {
  const count = unread(space)
  const { facts, lastMessage } = space
  const me = useMe()?.id
  const other = facts.direct ? space.members.find((member) => member.id !== me && member.type === 'human') : undefined
  return (
    <Link
      href={spacePath(facts.id)}
      data-space={facts.id}
      aria-current={here ? 'page' : undefined}
      className="block rounded-md px-3 py-1.5 leading-snug hover:bg-hover aria-[current]:bg-paper-high aria-[current]:shadow-low"
    >
      <span className="flex items-baseline gap-2">
        <bdi className={`min-w-0 flex-1 truncate text-along ${count > 0 && !muted ? 'font-semibold' : 'font-medium'} ${muted ? 'text-ink-soft' : ''}`}>{facts.name}</bdi>
        {other && <OnlineDot id={other.id} />}
        {lastMessage && <time dateTime={lastMessage.createdAt} className="text-tiny text-ink-soft">{brief(lastMessage.createdAt)}</time>}
      </span>
      <span className="flex items-center gap-2 text-small text-ink-soft">
        <Summary space={space} here={here} />
        {space.mentions.length > 0 && <Badge look="bg-unread text-unread-ink" about={plural(space.mentions.length, 'mention of you', 'mentions of you')}>{`@${capped(space.mentions.length)}`}</Badge>}
        {count > 0 && <Badge look={facts.direct && !muted ? 'bg-unread text-unread-ink' : muted ? 'border border-line text-ink-soft' : 'border border-line-strong text-ink'} about={t('unread')}>{capped(count)}</Badge>}
      </span>
    </Link>
  )
})

/** Filled for what is meant for the user: mentions, and messages of a direct conversation. */
function Badge({ look, about, children }: { look: string; about: string; children: string }) {
  return <span dir="ltr" className={`min-w-5 rounded-full px-1.5 text-center text-tiny font-semibold tabular-nums ${look}`}>{children}<span className="unseen"> {about}</span></span>
}

const capped = (count: number): string => (count > 99 ? `${figure(99)}+` : figure(count))

const LINE = 'min-w-0 flex-1 truncate'

/** A pending decision, else agents at work, else a draft, else the last message. A text has its own direction, so that its end is cut off. */
function Summary({ space, here }: { space: SpaceState; here: boolean }) {
  const me = useMe()
  const id = space.facts.id
  const working = useMajlis((state) => Object.values(state.agents.working).filter((run) => run.spaceId === id).map((run) => run.agentId))
  const names = [...new Set(working)].map((agent) => space.members.find((member) => member.id === agent)?.name ?? t('An agent'))
  const last = space.lastMessage
  const asking = usePendingTools(id)[0]
  if (asking) return <span className={`${LINE} text-decide`}>{t('{name} needs your decision', { name: asking.agentName })}</span>
  if (names.length > 0) {
    return <span className={`${LINE} text-agent`}><span className="me-1.5"><StatusDot state="thinking" /></span>{thinking(names)}</span>
  }
  const draft = here || !me ? '' : draftOf(me.id, id) || fileNames(attachmentsOf(me.id, id))
  if (draft) return <span dir="auto" className={`${LINE} text-along`}><bdi className="text-link">{t('Draft:')}</bdi> {draft}</span>
  if (!last) return <span className={LINE}>{t('No messages yet')}</span>
  const text = last.kind === 'tool' ? t('used {tool}', { tool: last.tool?.name ?? '' }) : lineOf(last)
  return <span dir="auto" className={`${LINE} text-along`}>{last.kind !== 'notice' && <><bdi>{last.sender.id === me?.id ? t('You') : last.sender.name}</bdi>: </>}{text}</span>
}

function thinking(names: readonly string[]): string {
  return plural(names.length, '{names} is thinking', names.length > 2 ? '{n} agents are thinking' : '{names} are thinking', { names: listed(names) })
}
