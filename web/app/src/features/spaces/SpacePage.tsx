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
  if (!space) return <Gone />
  return (
    <section aria-labelledby="space-name" className="flex min-h-0 flex-1 flex-col">
      <SpaceHeader space={space} />
      <Timeline space={space} messageId={messageId} onReply={setReplyTo} />
      <ActiveAgents space={space} />
      <Composer spaceId={spaceId} replyTo={replyTo} onReplied={() => setReplyTo(null)} />
    </section>
  )
}

/** What a draft answers is kept with it while one looks elsewhere: sent without, it would wake others than it should. */
const answering = new Map<string, Message>()

function useReplyTo(spaceId: string): [Message | null, (message: Message | null) => void] {
  const [replyTo, setReplyTo] = useState(() => answering.get(spaceId) ?? null)
  const change = useCallback((message: Message | null) => {
    if (message) answering.set(spaceId, message)
    else answering.delete(spaceId)
    setReplyTo(message)
  }, [spaceId])
  return [replyTo, change]
}

function Gone() {
  return (
    <div className="grid flex-1 place-items-center p-6 text-center">
      <div className="max-w-sm space-y-3">
        <h2 className="text-title">There is no such space for you</h2>
        <p className="text-ink-soft">It may have been deleted, or you are no longer one of its members.</p>
        <Link href="/" className="text-warm underline underline-offset-4">All spaces</Link>
      </div>
    </div>
  )
}
