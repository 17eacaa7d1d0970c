import { MajlisError } from '@majlis/client'
import type { useStore } from '@majlis/client/react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'

import type { Row } from './rows.ts'
import type { useStickToBottom, Virtual } from './useStickToBottom.ts'

/** How long a linked message is highlighted. */
const MARKED_MS = 2400

/** Scrolls to the linked message, to the first new one, or to the bottom. `notFound`: the linked message is not in this space. */
export function useJump(virtual: Virtual, rows: Row[], store: ReturnType<typeof useStore>, spaceId: string, messageId: string | null, newAfter: number | null, bottom: Pick<ReturnType<typeof useStickToBottom>, 'stick' | 'release'>) {
  const jumped = useRef<string | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const [notFound, setNotFound] = useState<string | null>(null)
  useEffect(() => {
    if (target === null) return
    const timer = setTimeout(() => setTarget(null), MARKED_MS)
    return () => clearTimeout(timer)
  }, [target])
  useEffect(() => {
    // While offline it is unknown whether the message exists.
    const onError = (failure: unknown) => failure instanceof MajlisError && !failure.retryable && setNotFound(messageId)
    if (messageId) void store.loader.around(spaceId, messageId).catch(onError)
  }, [store, spaceId, messageId])
  useLayoutEffect(() => {
    const wanted = messageId ?? 'first'
    if (rows.length === 0 || jumped.current === wanted) return
    if (messageId) {
      const place = rows.findIndex((row) => row.kind === 'message' && row.message.id === messageId)
      if (place < 0) return
      jumped.current = wanted
      setTarget(rows[place]!.key)
      bottom.release()
      virtual.scrollToIndex(place, { align: 'center' })
      return
    }
    if (jumped.current !== null) return
    jumped.current = wanted
    const marker = newAfter === null ? -1 : rows.findIndex((row) => row.kind === 'new')
    if (marker > 0) {
      bottom.release()
      virtual.scrollToIndex(marker, { align: 'start' })
    } else bottom.stick()
  }, [virtual, rows, messageId, newAfter, bottom])
  return { target, notFound: messageId !== null && notFound === messageId }
}
