import type { Message } from '@majlis/client'
import { useStore } from '@majlis/client/react'
import { useEffect } from 'react'

import { usePageFocus } from '../../ui/usePageFocus.ts'

/** Read is what stood on the screen while somebody was there. */
export function useMarkRead(message: Message | null): void {
  const store = useStore()
  const present = usePageFocus()
  useEffect(() => {
    if (message && present) store.reading.upTo(message)
  }, [store, message, present])
}
