/** A connection does not notice that its machine slept or its network came back; the browser does. */
import type { Store } from '@majlis/client'

export function reconnectOnWake(store: Store): void {
  addEventListener('online', () => store.hurry())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') store.hurry()
  })
}
