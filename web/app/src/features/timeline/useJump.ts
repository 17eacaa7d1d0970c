import { MajlisError } from '@majlis/client'
import type { useStore } from '@majlis/client/react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'

import type { Row } from './rows.ts'
import type { Virtual } from './useStickToBottom.ts'

/** Where one comes in: at the message of the address, at the first that is new, or at the end. `astray` when the address leads to no message here. */
export function useJump(virtual: Virtual, rows: Row[], store: ReturnType<typeof useStore>, spaceId: string, messageId: string | null, newAfter: number | null, following: { begin: () => void; end: () => void }) {
  const jumped = useRef<string | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const [astray, setAstray] = useState<string | null>(null)
  useEffect(() => {
    // Without a connection nobody knows; with the next one it is looked for again by whoever comes here.
    const lost = (failure: unknown) => failure instanceof MajlisError && !failure.passing && setAstray(messageId)
    if (messageId) void store.loading.around(spaceId, messageId).catch(lost)
  }, [store, spaceId, messageId])
  useLayoutEffect(() => {
    const wanted = messageId ?? 'first'
    if (rows.length === 0 || jumped.current === wanted) return
    if (messageId) {
      const place = rows.findIndex((row) => row.kind === 'message' && row.message.id === messageId)
      if (place < 0) return
      jumped.current = wanted
      setTarget(rows[place]!.key)
      following.end()
      virtual.scrollToIndex(place, { align: 'center' })
      return
    }
    if (jumped.current !== null) return
    jumped.current = wanted
    const news = newAfter === null ? -1 : rows.findIndex((row) => row.kind === 'new')
    if (news > 0) {
      following.end()
      virtual.scrollToIndex(news, { align: 'start' })
    } else following.begin()
  }, [virtual, rows, messageId, newAfter, following])
  return { target, astray: messageId !== null && astray === messageId }
}
