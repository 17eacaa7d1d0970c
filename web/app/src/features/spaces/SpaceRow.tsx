import { unread, type SpaceState } from '@majlis/client'
import { useMajlis, useMe, usePendingTools } from '@majlis/client/react'
import { memo } from 'react'

import { spacePath } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { brief } from '../../ui/time.ts'
import { StatusDot } from '../agents/StatusDot.tsx'
import { draftOf } from '../composer/drafts.ts'
import { plainText } from '../markdown/plainText.ts'

/** There may be hundreds: only those are rendered again of which something is new. `today` is what its time is told by. */
export const SpaceRow = memo(function SpaceRow({ space, here }: { space: SpaceState; here: boolean; today: string }) {
  const news = unread(space)
  const { facts, lastMessage } = space
  return (
    <Link
      href={spacePath(facts.id)}
      aria-current={here ? 'page' : undefined}
      className="block rounded-md px-3 py-2 hover:bg-hover aria-[current]:bg-paper-high aria-[current]:shadow-low"
    >
      <span className="flex items-baseline gap-2">
        <bdi className={`min-w-0 flex-1 truncate text-left ${news > 0 ? 'font-semibold' : 'font-medium'}`}>{facts.name}</bdi>
        {lastMessage && <time dateTime={lastMessage.createdAt} className="text-tiny text-ink-soft">{brief(lastMessage.createdAt)}</time>}
      </span>
      <span className="flex items-center gap-2 text-small text-ink-soft">
        <span className="min-w-0 flex-1 truncate"><Below space={space} here={here} /></span>
        {news > 0 && (
          <span className="min-w-5 rounded-full bg-warm px-1.5 text-center text-tiny font-semibold text-warm-ink">
            {news > 99 ? '99+' : news}
            <span className="unseen"> unread</span>
          </span>
        )}
      </span>
    </Link>
  )
})

/** Who thinks there now, else what one has begun to write, else the last word. */
function Below({ space, here }: { space: SpaceState; here: boolean }) {
  const me = useMe()
  const id = space.facts.id
  const working = useMajlis((state) => Object.values(state.agents.working).filter((run) => run.spaceId === id).map((run) => run.agentId))
  const names = [...new Set(working)].map((agent) => space.members.find((member) => member.id === agent)?.name ?? 'An agent')
  const last = space.lastMessage
  const asking = usePendingTools(id)[0]
  if (asking) return <span className="text-warm">{asking.agentName} waits for your decision</span>
  if (names.length > 0) {
    return <span className="text-agent"><span className="mr-1.5"><StatusDot state="thinking" /></span>{thinking(names)}</span>
  }
  const draft = here || !me ? '' : draftOf(me.id, id)
  if (draft) return <><span className="text-warm">Draft:</span> {draft}</>
  if (!last) return 'Nothing said yet'
  const who = last.kind === 'notice' ? '' : last.sender.id === me?.id ? 'You: ' : `${last.sender.name}: `
  return <bdi>{who}{last.kind === 'tool' ? `used ${last.tool?.name}` : plainText(last.text)}</bdi>
}

/** Names as long as they fit. */
function thinking(names: readonly string[]): string {
  if (names.length > 2) return `${names.length} agents are thinking`
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} thinking`
}
