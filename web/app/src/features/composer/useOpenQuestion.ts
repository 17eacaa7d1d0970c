import type { Message } from '@majlis/client'
import { useMajlis, useMe, useSpace, useStore } from '@majlis/client/react'
import { useEffect, useRef } from 'react'

import { useQuery } from '../../ui/useQuery.ts'
import { draftOf } from './drafts.ts'

/** Questions that the user has answered or dismissed, by their message. */
const dismissed = new Set<string>()
const offered = new Set<string>()

/** The reply was not the user's choice, so it must not take the focus. */
export const isOffered = (message: Message): boolean => offered.has(message.id)

/** Offers the newest open question of an agent as what the user replies to. Never while they write something else. */
export function useOpenQuestion(spaceId: string, replyTo: Message | null, onReply: (message: Message | null) => void): void {
  const { client } = useStore()
  const me = useMe()
  const space = useSpace(spaceId)
  const waiting = useMajlis((state) => Object.values(state.agents.waiting).filter((run) => run.for === 'reply' && (run.wait?.spaceId ?? run.spaceId) === spaceId).map((run) => run.runId).join(' '))
  const { data } = useQuery(`questions ${spaceId}`, async () => (waiting ? (await client.waits({ for: 'me', spaceId })).waits : []), waiting)
  const open = data?.filter((wait) => wait.kind === 'reply' && !wait.answered.some(({ entityId }) => entityId === me?.id)).map((wait) => wait.messageId)
  const newest = open?.findLast((id) => !dismissed.has(id))
  const question = space?.history?.find(({ id }) => id === newest) ?? null
  const current = useRef(replyTo && isOffered(replyTo) ? replyTo.id : null)

  useEffect(() => {
    const chosen = current.current
    if (chosen && replyTo?.id !== chosen) {
      // Sent, dismissed, or replaced by another reply.
      dismissed.add(chosen)
      offered.delete(chosen)
      current.current = null
    } else if (chosen && open && !open.includes(chosen)) {
      current.current = null
      offered.delete(chosen)
      onReply(null)
    } else if (question && !replyTo && !dismissed.has(question.id) && me && !draftOf(me.id, spaceId)) {
      current.current = question.id
      offered.add(question.id)
      onReply(question)
    }
  }, [replyTo, question, open?.join(' ')])
}
