import type { Message } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { usePresence } from '../../ui/usePageFocus.ts'

/** Read is what stood on the screen while somebody was there. */
export function useReadUpTo(message: Message | null): void {
  const store = useStore()
  const present = usePresence()
  useEffect(() => {
    if (message && present) store.reading.upTo(message)
  }, [store, message, present])
}
