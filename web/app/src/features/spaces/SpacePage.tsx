import type { Message } from '@majlis/client'
import { useSpace } from '@majlis/client/react'
import { useCallback, useState } from 'react'

import { Link } from '../../ui/Link.tsx'
import { ActiveAgents } from '../agents/ActiveAgents.tsx'
import { Composer } from '../composer/Composer.tsx'
import { Timeline } from '../timeline/Timeline.tsx'
import { SpaceHeader } from './SpaceHeader.tsx'

export function SpacePage({ spaceId, messageId }: { spaceId: string; messageId: string | null }) {
  const space = useSpace(spaceId)
  const [replyTo, setReplyTo] = useReplyTo(spaceId)
  if (!space) return <NoAccess />
  return (
    <section aria-labelledby="space-name" className="flex min-h-0 flex-1 flex-col">
      <SpaceHeader space={space} />
      <Timeline space={space} messageId={messageId} onReply={setReplyTo} />
      <ActiveAgents space={space} />
      <Composer spaceId={spaceId} replyTo={replyTo} onClearReply={() => setReplyTo(null)} />
    </section>
  )
}

/** Kept while the user looks at another space: a draft sent without its `replyTo` would trigger other agents. */
const replyTargets = new Map<string, Message>()

function useReplyTo(spaceId: string): [Message | null, (message: Message | null) => void] {
  const [replyTo, setReplyTo] = useState(() => replyTargets.get(spaceId) ?? null)
  const change = useCallback((message: Message | null) => {
    if (message) replyTargets.set(spaceId, message)
    else replyTargets.delete(spaceId)
    setReplyTo(message)
  }, [spaceId])
  return [replyTo, change]
}

function NoAccess() {
  return (
    <div className="grid flex-1 place-items-center p-6 text-center">
      <div className="max-w-sm space-y-3">
        <h2 className="text-title">You don’t have access to this space</h2>
        <p className="text-ink-soft">It may have been deleted, or you may no longer be a member.</p>
        <Link href="/" className="text-warm underline underline-offset-4">Back to spaces</Link>
      </div>
    </div>
  )
}
