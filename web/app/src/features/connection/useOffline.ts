import { useConnection } from '@majlis/client/react'
import { useSyncExternalStore } from 'react'

/** The browser has no network, or the server does not answer. An open connection notices the first only after a while. */
export function useOffline(): boolean {
  const lost = useConnection() === 'lost'
  return useSyncExternalStore(subscribe, () => !navigator.onLine) || lost
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}
