import { useStore } from '@majlis/client/react'
import { useCallback, useRef } from 'react'

const EVERY_MS = 3000

/** Tells the people in a space that the user is writing. Call it with each change of the text. */
export function useTellTyping(spaceId: string): () => void {
  const store = useStore()
  const last = useRef(0)
  return useCallback(() => {
    const { spaces, people, me } = store.state
    const heard = spaces[spaceId]?.members.some((member) => member.id !== me?.id && people.online.has(member.id))
    if (!heard || Date.now() - last.current < EVERY_MS) return
    last.current = Date.now()
    // It is not worth an error or another attempt.
    store.client.spaces.type(spaceId).catch(() => {})
  }, [store, spaceId])
}
