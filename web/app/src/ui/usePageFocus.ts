import { useSyncExternalStore } from 'react'

/** True while the page is visible and has the keyboard focus. */
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
