import type { Message } from '@majlis/client'
import { useSpace } from '@majlis/client/react'
import { useCallback, useEffect, useRef, useState } from 'react'

import { t } from '../../language/words.ts'
import { Link } from '../../ui/Link.tsx'
import { ActiveAgents } from '../agents/ActiveAgents.tsx'
import { Composer } from '../composer/Composer.tsx'
import { onStartReply } from '../composer/startReply.ts'
import { DropZone } from '../files/DropZone.tsx'
import { useAttach } from '../files/useAttach.ts'
import { useOpenQuestion } from '../composer/useOpenQuestion.ts'
import { Timeline } from '../timeline/Timeline.tsx'
import { SpaceHeader } from './SpaceHeader.tsx'
import { useMayWrite } from './useMayWrite.ts'

export function SpacePage({ spaceId, messageId }: { spaceId: string; messageId: string | null }) {
  const space = useSpace(spaceId)
  const [replyTo, setReplyTo] = useReplyTo(spaceId)
  const page = useRef<HTMLElement>(null)
  const mayWrite = useMayWrite(spaceId)
  const onFiles = useAttach(spaceId)
  useEffect(() => onStartReply(spaceId, setReplyTo), [spaceId, setReplyTo])
  useOpenQuestion(spaceId, replyTo, setReplyTo)
  if (!space) return <NoAccess />
  return (
    <section ref={page} aria-labelledby="space-name" className="relative flex min-h-0 flex-1 flex-col">
      <SpaceHeader space={space} />
      <Timeline space={space} messageId={messageId} onReply={setReplyTo} />
      <ActiveAgents space={space} />
      {mayWrite && <DropZone box={page} onFiles={onFiles} />}
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
        <h2 className="text-title">{t('You don’t have access to this space')}</h2>
        <p className="text-ink-soft">{t('It may have been deleted, or you may no longer be a member.')}</p>
        <Link href="/" className="text-link underline underline-offset-4">{t('Back to spaces')}</Link>
      </div>
    </div>
  )
}
