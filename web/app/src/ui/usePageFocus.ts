import { useSyncExternalStore } from 'react'

/** Whether somebody is looking: the page is shown, and it is the one that keys go to. */
export const usePageFocus = (): boolean => useSyncExternalStore(subscribe, () => document.visibilityState === 'visible' && document.hasFocus())

function subscribe(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  addEventListener('focus', listener)
  addEventListener('blur', listener)
  return () => {
    document.removeEventListener('visibilitychange', listener)
    removeEventListener('focus', listener)
    removeEventListener('blur', listener)
  }
}
